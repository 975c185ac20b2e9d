//! A company is mailed when its endpoint is paused.

use test_support::{
    Backend, Sandbox, TestReceiver,
    office::{kept, list_mails, offer, until_true},
    on_each_database,
    travel::{DAY, advance},
};

use crate::eml::Eml;

on_each_database! {
    a_company_is_mailed_when_its_endpoint_is_paused,
}

async fn a_company_is_mailed_when_its_endpoint_is_paused(backend: Backend) {
    let receiver = TestReceiver::start_failing(1_000).await;
    let sandbox = Sandbox::start_sending_to(backend, &receiver.url()).await;
    offer(&sandbox, "NF-1", "a@fornecedor.example.com").await;
    receiver.requests(1).await;
    advance(&sandbox, 6 * DAY).await;
    let query = "kind=ENDPOINT_PAUSED&status=SENT";
    until_true("it is mailed", async || {
        !list_mails(&sandbox, query).await.is_empty()
    })
    .await;
    let mails = list_mails(&sandbox, "kind=ENDPOINT_PAUSED").await;
    let path = format!(
        "/api/platform/v1/companies/{}/users?limit=100",
        sandbox.company().await
    );
    let users = sandbox.platform().get(&path).await.json();
    let active = users["data"].as_array().unwrap().iter();
    let mut addresses: Vec<_> = active
        .filter(|user| user["active"] == true)
        .map(|user| user["email"].clone())
        .collect();
    let mut recipients: Vec<_> = mails.iter().map(|mail| mail["recipient"].clone()).collect();
    addresses.sort_by_key(ToString::to_string);
    recipients.sort_by_key(ToString::to_string);
    assert!(!addresses.is_empty());
    assert_eq!(recipients, addresses);
    let sent = list_mails(&sandbox, query).await.remove(0);
    let path = kept(&sandbox, &sent);
    let mail = Eml::parse(&std::fs::read_to_string(path).unwrap());
    assert!(
        mail.text.contains("Nenhum evento se perde"),
        "{}",
        mail.text
    );
    assert_eq!(sent["operationId"], serde_json::Value::Null);
}
