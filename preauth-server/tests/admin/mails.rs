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
