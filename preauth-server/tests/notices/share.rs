//! What one address gets in a day.

use crate::mail_server::MailServer;
use crate::office::{offer, start, until};
use crate::support::Backend;
use crate::travel::{DAY, advance};

on_each_database! {
    an_address_gets_twenty_mails_a_day_and_the_rest_later,
}

async fn an_address_gets_twenty_mails_a_day_and_the_rest_later(backend: Backend) {
    let server = MailServer::start().await;
    let sandbox = start(backend, &server).await;
    for n in 0..23 {
        // Case makes no difference to most mail systems, so none to the share.
        let address = ["a@fornecedor.example.com", "A@Fornecedor.example.com"][n % 2];
        offer(&sandbox, &format!("NF-{n}"), address).await;
    }
    offer(&sandbox, "NF-99", "b@fornecedor.example.com").await;
    until(&sandbox, 21, "SENT").await;
    let held = until(&sandbox, 3, "HELD").await;
    assert!(
        held.iter().all(|notice| notice["attempts"] == 0),
        "{held:?}"
    );
    let of = |address| server.taken_for(address).len();
    assert_eq!(
        of("a@fornecedor.example.com") + of("A@Fornecedor.example.com"),
        20
    );
    assert_eq!(of("b@fornecedor.example.com"), 1);
    advance(&sandbox, DAY).await;
    until(&sandbox, 24, "SENT").await;
}
