//! A company is mailed when its endpoint begins to fail, and when it has recovered.

use test_support::{
    Backend, Sandbox, TestReceiver,
    office::{kept, list_mails, offer, until_true},
    on_each_database,
    travel::advance,
};

use crate::eml::Eml;

on_each_database! {
    a_company_is_mailed_when_its_endpoint_begins_to_fail_and_when_it_has_recovered,
}

async fn a_company_is_mailed_when_its_endpoint_begins_to_fail_and_when_it_has_recovered(
    backend: Backend,
) {
    let receiver = TestReceiver::start_failing(2).await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.url()).await;
    offer(&sandbox, "NF-1", "a@fornecedor.example.com").await;
    tried(&sandbox, 1).await;
    advance(&sandbox, 6).await;
    tried(&sandbox, 2).await;
    assert_eq!(list_mails(&sandbox, "kind=ENDPOINT_FAILING").await.len(), 0);
    // The third attempt is due a minute after the second one; the janitor looks when the clock moves.
    advance(&sandbox, 20).await;
    let text = mailed(&sandbox, "ENDPOINT_FAILING").await;
    assert!(text.contains("não estão chegando"), "{text}");
    assert!(text.contains("Nenhum evento se perdeu"), "{text}");
    assert!(
        metrics(&sandbox)
            .await
            .contains("\npreauth_endpoints_failing 1\n")
    );

    advance(&sandbox, 60).await;
    tried(&sandbox, 3).await;
    advance(&sandbox, 1).await;
    let text = mailed(&sandbox, "ENDPOINT_RECOVERED").await;
    assert!(text.contains("voltaram a chegar"), "{text}");
    assert!(
        metrics(&sandbox)
            .await
            .contains("\npreauth_endpoints_failing 0\n")
    );

    let failing = list_mails(&sandbox, "kind=ENDPOINT_FAILING").await.len();
    let recovered = list_mails(&sandbox, "kind=ENDPOINT_RECOVERED").await.len();
    assert_eq!(failing, recovered, "one to each reader");
    assert_eq!(list_mails(&sandbox, "kind=ENDPOINT_PAUSED").await.len(), 0);
}

/// Waits until the only delivery has this many attempts.
async fn tried(sandbox: &Sandbox, times: usize) {
    let path = format!(
        "/api/platform/v1/companies/{}/deliveries",
        sandbox.company().await
    );
    until_true("it is tried", async || {
        let list = sandbox.platform().get(&path).await.json();
        let attempts = list["data"][0]["attempts"].as_array();
        attempts.is_some_and(|attempts| attempts.len() == times)
    })
    .await;
}

/// Waits for a mail of this kind, and returns its text.
async fn mailed(sandbox: &Sandbox, kind: &str) -> String {
    let query = format!("kind={kind}&status=SENT");
    until_true("it is mailed", async || {
        !list_mails(sandbox, &query).await.is_empty()
    })
    .await;
    let sent = list_mails(sandbox, &query).await.remove(0);
    assert_eq!(sent["kind"], kind);
    let path = kept(sandbox, &sent);
    Eml::parse(&std::fs::read_to_string(path).unwrap()).text
}

async fn metrics(sandbox: &Sandbox) -> String {
    sandbox.platform().get("/metrics").await.text
}
