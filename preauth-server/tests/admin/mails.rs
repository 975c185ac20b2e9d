//! Mails on the command line: list, show, resend.

use test_support::{
    Backend, MailServer, Manner,
    office::{offer, start, until},
};

use crate::operator::{COMPANY, Operator, value};

const ADDRESS: &str = "financeiro@fornecedor.example.com";

#[tokio::test]
async fn mails_are_listed_shown_and_sent_again() {
    let server = MailServer::start().await;
    server.treat(ADDRESS, Manner::Refuse);
    let operator = Operator::of(start(Backend::Sqlite, &server).await);
    offer(&operator.sandbox, "NF-1", ADDRESS).await;
    until(&operator.sandbox, 1, "FAILED").await;
    let listed = operator.stdout(&["mail", "list", COMPANY, "--status", "failed"]);
    assert!(listed.contains(ADDRESS), "{listed}");
    let all = operator.json(&["mail", "list", COMPANY]);
    assert_eq!(
        operator.json(&["notice", "list", COMPANY]),
        all,
        "its former name"
    );
    let id = all["data"][0]["id"].as_str().unwrap().to_owned();
    let shown = operator.stdout(&["mail", "show", &id]);
    assert_eq!(value(&shown, "status"), "FAILED");
    assert_eq!(value(&shown, "joined to"), "-");
    assert!(
        value(&shown, "last error").contains("no such user here"),
        "{shown}"
    );

    server.treat(ADDRESS, Manner::Take);
    let resent = operator.stdout(&["mail", "resend", &id]);
    assert_eq!(value(&resent, "recipient"), ADDRESS);
    until(&operator.sandbox, 1, "SENT").await;
    assert_eq!(server.taken_for(ADDRESS).len(), 1);
    let again = operator.run(&["mail", "resend", &id]);
    again.failed(1, &["RESOURCE_CONFLICT", "FAILED"]);
}

#[tokio::test]
async fn addresses_that_want_no_mails_are_listed_and_removed() {
    let operator = Operator::start().await;
    let sandbox = &operator.sandbox;
    let offered = offer(sandbox, "NF-1", ADDRESS).await;
    let path = format!("{}/nao-receber", sandbox.page_of(offered));
    let ended = sandbox.suppliers().post(&path).await;
    assert_eq!(ended.status, 200, "{}", ended.text);
    let listed = operator.stdout(&["mail", "suppressed", "list", "--address", ADDRESS]);
    assert!(listed.contains(ADDRESS), "{listed}");
    let all = operator.json(&["mail", "suppressed", "list"]);
    let id = all["data"][0]["id"].as_str().unwrap();
    assert_eq!(all["data"][0]["operationId"], offered);
    let unasked = operator.run(&["mail", "suppressed", "remove", id]);
    unasked.failed(4, &["--yes"]);
    let removed = operator.stdout(&["mail", "suppressed", "remove", id, "--yes"]);
    assert!(
        removed.contains("mails are sent to this address again"),
        "{removed}"
    );
    let gone = operator.run(&["mail", "suppressed", "remove", id, "--yes"]);
    gone.failed(1, &["RESOURCE_NOT_FOUND"]);
    let none = operator.json(&["mail", "suppressed", "list"]);
    assert_eq!(none["pagination"]["total"], 0);
}
