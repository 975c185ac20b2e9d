//! Failures of one mail and of the mail server, and their limits.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use test_support::{
    Backend, MailServer, Manner,
    office::{mail_of, offer, start, start_in, until, until_true},
    on_each_database,
    travel::{DAY, advance},
};

use crate::eml::Eml;

on_each_database! {
    an_address_that_is_refused_fails_and_others_go_on,
    a_mail_that_is_not_taken_yet_is_tried_again,
    a_connection_that_is_reset_in_the_middle_loses_nothing,
    an_unreachable_mail_server_loses_no_mail,
    a_mail_server_that_hangs_delays_nothing_else,
    a_mail_under_way_is_given_back_when_the_server_stops,
}

const ADDRESS: &str = "a@fornecedor.example.com";
const OTHER: &str = "b@fornecedor.example.com";
/// Longer than the first retry delays.
const A_WHILE: u64 = 600;

async fn an_address_that_is_refused_fails_and_others_go_on(backend: Backend) {
    let server = MailServer::start().await;
    server.treat(ADDRESS, Manner::Refuse);
    let sandbox = start(backend, &server).await;
    let refused = offer(&sandbox, "NF-1", ADDRESS).await;
    let taken = offer(&sandbox, "NF-2", OTHER).await;
    until(&sandbox, 1, "FAILED").await;
    until(&sandbox, 1, "SENT").await;
    let refused = mail_of(&sandbox, refused).await;
    let error = refused["lastError"].as_str().unwrap();
    assert!(error.contains("no such user here"), "{error}");
    // The log has codes only: a mail server's texts may contain addresses.
    let log = sandbox.log();
    assert!(log.contains("refused: 550 5.1.1"), "{log}");
    assert!(!log.contains("no such user"), "{log}");
    assert_eq!(refused["nextAttemptAt"], serde_json::Value::Null);
    assert_eq!(mail_of(&sandbox, taken).await["status"], "SENT");
    advance(&sandbox, A_WHILE).await;
    let later = offer(&sandbox, "NF-3", OTHER).await;
    until(&sandbox, 2, "SENT").await;
    assert_eq!(mail_of(&sandbox, later).await["status"], "SENT");
    assert_eq!(server.times_named(ADDRESS), 1, "it is given up");
}

/// It asks to come back, or refuses every mail for reasons of its own: what its operator corrects does not fail mails.
async fn a_mail_that_is_not_taken_yet_is_tried_again(backend: Backend) {
    for (manner, said) in [
        (Manner::NotYet, "greylisted"),
        (
            Manner::RefuseSaying("550 5.4.5 daily limit of this relay"),
            "daily limit",
        ),
        (
            Manner::RefuseSaying("554 5.7.1 relay access denied"),
            "relay access",
        ),
        (
            Manner::RefuseSaying("530 authentication required"),
            "authentication",
        ),
    ] {
        let server = MailServer::start().await;
        server.treat(ADDRESS, manner);
        let sandbox = start(backend, &server).await;
        let operation = offer(&sandbox, "NF-1", ADDRESS).await;
        offer(&sandbox, "NF-2", OTHER).await;
        until(&sandbox, 1, "SENT").await;
        until_true("it was tried", async || {
            mail_of(&sandbox, operation).await["attempts"] == 1
        })
        .await;
        let waiting = mail_of(&sandbox, operation).await;
        assert_eq!(waiting["status"], "PENDING", "{said}");
        let error = waiting["lastError"].as_str().unwrap();
        assert!(error.contains(said), "{error}");
        server.treat(ADDRESS, Manner::Take);
        advance(&sandbox, A_WHILE).await;
        until(&sandbox, 2, "SENT").await;
        assert_eq!(server.taken_for(ADDRESS).len(), 1);
    }
}

async fn a_connection_that_is_reset_in_the_middle_loses_nothing(backend: Backend) {
    let server = MailServer::start().await;
    server.treat(ADDRESS, Manner::Reset);
    let sandbox = start(backend, &server).await;
    let operation = offer(&sandbox, "NF-1", ADDRESS).await;
    until_true("it was tried", async || {
        mail_of(&sandbox, operation).await["attempts"] == 1
    })
    .await;
    server.treat(ADDRESS, Manner::Take);
    advance(&sandbox, A_WHILE).await;
    let sent = until(&sandbox, 1, "SENT").await.remove(0);
    let mail = Eml::parse(&server.taken_for(ADDRESS)[0]);
    assert!(mail.headers["message-id"].contains(sent["id"].as_str().unwrap()));
}

// Contract: service/mails
async fn an_unreachable_mail_server_loses_no_mail(backend: Backend) {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = gone.local_addr().unwrap();
    let nobody = MailServer::nobody_at(address);
    drop(gone);
    let sandbox = start(backend, &nobody).await;
    for n in 0..6 {
        offer(
            &sandbox,
            &format!("NF-{n}"),
            &format!("x{n}@fornecedor.example.com"),
        )
        .await;
    }
    until_true("one was tried", async || {
        mail_of(&sandbox, 1).await["attempts"].as_u64() >= Some(1)
    })
    .await;
    let waiting = mail_of(&sandbox, 1).await;
    assert_eq!(waiting["status"], "PENDING");
    let error = waiting["lastError"].as_str().unwrap();
    assert!(error.starts_with("no mail can be handed over"), "{error}");
    // Weeks later, while the offers are open, it is still retried.
    for _ in 0..25 {
        advance(&sandbox, DAY).await;
    }
    let server = MailServer::start_on(address).await;
    advance(&sandbox, A_WHILE).await;
    until(&sandbox, 6, "SENT").await;
    assert_eq!(server.taken_for("x5@fornecedor.example.com").len(), 1);
}

async fn a_mail_server_that_hangs_delays_nothing_else(backend: Backend) {
    let server = MailServer::start().await;
    let sandbox = start(backend, &server).await;
    // More than the number of mails sent concurrently.
    for n in 0..6 {
        let address = format!("x{n}@fornecedor.example.com");
        server.treat(&address, Manner::Hang);
        offer(&sandbox, &format!("NF-{n}"), &address).await;
    }
    until_true("it hangs", async || {
        server.times_named("x3@fornecedor.example.com") == 1
    })
    .await;
    // Creates, cancellations and their webhooks continue.
    let caller = sandbox.caller("apiKey");
    let other = offer(&sandbox, "NF-7", OTHER).await;
    let cancel = format!("{PRE_AUTHORIZATIONS}/{other}/cancel");
    assert_eq!(caller.post(&cancel).await.status, 201);
    until_true("webhooks arrive", async || {
        sandbox
            .log()
            .contains("pre_authorization.revoked attempt 1: 204")
    })
    .await;
    for n in 0..6 {
        server.treat(&format!("x{n}@fornecedor.example.com"), Manner::Take);
    }
    until_true("all are tried again", async || {
        advance(&sandbox, A_WHILE).await;
        (0..6).all(|n| {
            !server
                .taken_for(&format!("x{n}@fornecedor.example.com"))
                .is_empty()
        })
    })
    .await;
}

async fn a_mail_under_way_is_given_back_when_the_server_stops(backend: Backend) {
    let server = MailServer::start().await;
    server.treat(ADDRESS, Manner::Hang);
    let mut sandbox = start(backend, &server).await;
    offer(&sandbox, "NF-1", ADDRESS).await;
    until_true("it hangs", async || server.times_named(ADDRESS) == 1).await;
    assert!(sandbox.stop(), "{}", sandbox.log());
    server.treat(ADDRESS, Manner::Take);
    // No lease has to expire first.
    let sandbox = start_in(sandbox.kill(), &server).await;
    let sent = until(&sandbox, 1, "SENT").await.remove(0);
    assert_eq!(sent["attempts"], 1);
}
