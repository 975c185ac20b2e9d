//! Mails that are sent again, and mails that are cancelled.

use serde_json::Value;
use test_support::{
    Answer, Backend, MailServer, Manner, Sandbox,
    office::{list_mails, mail_of, offer, start, until, until_true},
    on_each_database,
    travel::{DAY, advance},
};

on_each_database! {
    an_operator_resends_a_failed_mail,
    a_mail_that_has_not_failed_is_not_sent_again,
    mail_of_a_closed_offer_is_cancelled,
    mail_of_an_offer_that_expired_during_an_outage_is_cancelled,
}

const ADDRESS: &str = "a@fornecedor.example.com";
const A_WHILE: u64 = 600;

async fn an_operator_resends_a_failed_mail(backend: Backend) {
    let server = MailServer::start().await;
    server.treat(ADDRESS, Manner::Refuse);
    let sandbox = start(backend, &server).await;
    offer(&sandbox, "NF-1", ADDRESS).await;
    let failed = until(&sandbox, 1, "FAILED").await.remove(0);
    server.treat(ADDRESS, Manner::Take);
    let resent = resend(&sandbox, &failed).await;
    assert_eq!(resent.status, 200, "{}", resent.text);
    let resent = resent.json();
    assert_eq!(resent["id"], failed["id"]);
    assert_eq!(resent["attempts"], 0);
    let sent = until(&sandbox, 1, "SENT").await.remove(0);
    assert_eq!(
        (&sent["attempts"], &sent["lastError"]),
        (&1.into(), &Value::Null)
    );
    let taken = server.taken_for(ADDRESS);
    assert_eq!(taken.len(), 1);
    let id = sent["id"].as_str().unwrap();
    assert!(taken[0].contains(id), "it is the same mail");
}

async fn a_mail_that_has_not_failed_is_not_sent_again(backend: Backend) {
    let server = MailServer::start().await;
    let sandbox = start(backend, &server).await;
    offer(&sandbox, "NF-1", ADDRESS).await;
    let sent = until(&sandbox, 1, "SENT").await.remove(0);
    let refused = resend(&sandbox, &sent).await;
    assert_eq!(refused.refusal(), (409, "RESOURCE_CONFLICT".to_owned()));
    assert!(refused.text.contains("FAILED"), "{}", refused.text);
    assert_eq!(server.taken_for(ADDRESS).len(), 1);
    let unknown = "/api/platform/v1/notices/01a1fe3a-25a3-7ffb-8504-107e7be706e3/resend";
    let unknown = sandbox.platform().post(unknown).await;
    assert_eq!(unknown.refusal(), (404, "RESOURCE_NOT_FOUND".to_owned()));
}

// Contract: service/mails
async fn mail_of_a_closed_offer_is_cancelled(backend: Backend) {
    let server = MailServer::start().await;
    server.treat(ADDRESS, Manner::NotYet);
    let sandbox = start(backend, &server).await;
    let mut offers = Vec::new();
    for number in ["NF-1", "NF-2", "NF-3", "NF-4"] {
        offers.push(offer(&sandbox, number, ADDRESS).await);
    }
    for operation in &offers {
        until_true("it was tried", async || {
            mail_of(&sandbox, *operation).await["attempts"] != 0
        })
        .await;
    }
    let cancel = format!(
        "/api/integration/v1/pre-authorizations/{}/cancel",
        offers[0]
    );
    assert_eq!(sandbox.caller("apiKey").post(&cancel).await.status, 201);
    for (operation, action) in [(offers[1], "decline"), (offers[2], "request")] {
        let path = format!("/api/platform/v1/operations/{operation}/{action}");
        assert_eq!(sandbox.platform().post(&path).await.status, 200);
    }
    server.treat(ADDRESS, Manner::Take);
    until_true("the open offer is mailed", async || {
        advance(&sandbox, A_WHILE).await;
        mail_of(&sandbox, offers[3]).await["status"] == "SENT"
    })
    .await;
    until_true("the others are canceled", async || {
        advance(&sandbox, A_WHILE).await;
        let mut ended = 0;
        for operation in &offers[..3] {
            let mail = mail_of(&sandbox, *operation).await;
            ended += usize::from(mail["status"] == "CANCELED");
        }
        ended == 3
    })
    .await;
    assert_eq!(server.taken_for(ADDRESS).len(), 1);
    let log = sandbox.log();
    assert!(
        log.contains("OFFER canceled: its offer no longer stands"),
        "{log}"
    );
}

async fn mail_of_an_offer_that_expired_during_an_outage_is_cancelled(backend: Backend) {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = gone.local_addr().unwrap();
    drop(gone);
    let sandbox = start(backend, &MailServer::nobody_at(address)).await;
    offer(&sandbox, "NF-1", ADDRESS).await;
    until_true("it was attempted in vain", async || {
        list_mails(&sandbox, "status=PENDING").await[0]["attempts"] != 0
    })
    .await;
    advance(&sandbox, 31 * DAY).await;
    let server = MailServer::start_on(address).await;
    let canceled = until(&sandbox, 1, "CANCELED").await.remove(0);
    assert_ne!(canceled["endedAt"], Value::Null);
    assert_eq!(server.times_named(ADDRESS), 0);
}

async fn resend(sandbox: &Sandbox, mail: &Value) -> Answer {
    let id = mail["id"].as_str().unwrap();
    let path = format!("/api/platform/v1/notices/{id}/resend");
    sandbox.platform().post(&path).await
}
