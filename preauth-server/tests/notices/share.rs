//! The daily limit of mails per address.

use std::collections::BTreeSet;

use crate::eml::Eml;
use crate::mail_server::MailServer;
use crate::office::{notices, offer, start, until, until_true};
use crate::support::Backend;
use crate::travel::{DAY, advance};

on_each_database! {
    a_head_office_sends_an_address_five_mails_a_day_and_joins_the_rest,
}

const OFFERS: usize = 40;

/// Plus signs and capitals reach the same mailbox, so they do not raise its limit.
fn address(n: usize) -> String {
    match n % 3 {
        0 => "vitima@fornecedor.example.com".to_owned(),
        1 => "Vitima@Fornecedor.example.com".to_owned(),
        _ => format!("vitima+{n}@fornecedor.example.com"),
    }
}

/// Every mail the mailbox got.
fn taken(server: &MailServer) -> Vec<Eml> {
    let addresses: BTreeSet<_> = (0..OFFERS).map(address).collect();
    let mails = addresses.iter().flat_map(|it| server.taken_for(it));
    mails.map(|mail| Eml::parse(&mail)).collect()
}

async fn a_head_office_sends_an_address_five_mails_a_day_and_joins_the_rest(backend: Backend) {
    let server = MailServer::start().await;
    let sandbox = start(backend, &server).await;
    for n in 0..OFFERS {
        offer(&sandbox, &format!("NF-{n:03}"), &address(n)).await;
    }
    offer(&sandbox, "NF-OTHER", "b@fornecedor.example.com").await;
    until_true("each is sent or held", async || {
        let sent = notices(&sandbox, "status=SENT").await.len();
        let held = notices(&sandbox, "status=HELD").await.len();
        sent + held == OFFERS + 1
    })
    .await;
    assert_eq!(taken(&server).len(), 5, "{}", sandbox.log());
    assert_eq!(server.taken_for("b@fornecedor.example.com").len(), 1);
    advance(&sandbox, DAY).await;
    until(&sandbox, OFFERS + 1, "SENT").await;
    let mails = taken(&server);
    assert!(mails.len() <= 10, "{} mails", mails.len());
    // The platform shows which mail each offer went in; one more went to another address.
    let (own, joined): (Vec<_>, Vec<_>) = notices(&sandbox, "status=SENT")
        .await
        .into_iter()
        .partition(|it| it["joinedTo"].is_null());
    assert_eq!(own.len(), mails.len() + 1);
    assert_eq!(own.len() + joined.len(), OFFERS + 1);
    for each in joined {
        assert!(own.iter().any(|it| it["id"] == each["joinedTo"]), "{each}");
    }
    for n in 0..OFFERS {
        let section = format!("Nota fiscal: NF-{n:03}\n");
        let listed: usize = mails
            .iter()
            .map(|mail| mail.text.replace("\r\n", "\n").matches(&section).count())
            .sum();
        assert_eq!(listed, 1, "{section}");
    }
    assert!(
        mails
            .iter()
            .all(|mail| mail.html.matches("href=").count() == 1)
    );
}
