//! A company is mailed when its endpoint begins to fail, and when it has recovered.

use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor};
use test_support::{
    Backend, Sandbox, TestReceiver,
    office::{kept, list_mails, offer, until_true},
    on_each_database,
    travel::advance,
};

use crate::eml::Eml;

on_each_database! {
    a_company_is_mailed_when_its_endpoint_begins_to_fail_and_when_it_has_recovered,
    a_secret_that_this_server_cannot_open_is_no_failure_of_the_endpoint,
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

/// As an instance with another master key seals it.
async fn seal_with_another_key(backend: Backend, sandbox: &Sandbox) {
    match backend {
        Backend::Sqlite => {
            let file = sandbox.data().join("preauth.db");
            let options = SqliteConnectOptions::new().filename(file);
            let mut connection = options.connect().await.unwrap();
            let sql = "UPDATE endpoint_secrets SET sealed =
                 CAST(substr(sealed, 1, 1) || x'01010101' || substr(sealed, 6) AS BLOB)";
            connection.execute(sql).await.unwrap();
            connection.close().await.unwrap();
        }
        Backend::Postgres => {
            let url = sandbox.database_url().unwrap();
            let mut connection = PgConnection::connect(&url).await.unwrap();
            let sql = r"UPDATE endpoint_secrets
                 SET sealed = overlay(sealed placing '\x01010101' from 2 for 4)";
            connection.execute(sql).await.unwrap();
            connection.close().await.unwrap();
        }
    }
}

async fn a_secret_that_this_server_cannot_open_is_no_failure_of_the_endpoint(backend: Backend) {
    let receiver = TestReceiver::start().await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.url()).await;
    seal_with_another_key(backend, &sandbox).await;
    offer(&sandbox, "NF-1", "a@fornecedor.example.com").await;
    for (times, seconds) in [(1, 6), (2, 20), (2, 60), (3, 20)] {
        tried(&sandbox, times).await;
        advance(&sandbox, seconds).await;
    }
    let log = sandbox.log();
    for part in [
        "sealed with the master key 01010101",
        "every instance needs the same",
    ] {
        assert!(log.contains(part), "{part:?} in {log}");
    }
    let failing = metrics(&sandbox).await;
    assert!(failing.contains("\npreauth_endpoints_failing 0\n"));
    assert_eq!(list_mails(&sandbox, "kind=ENDPOINT_FAILING").await.len(), 0);
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
