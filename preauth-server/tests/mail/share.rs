//! The daily limit of mails per address.

use std::collections::BTreeSet;

use chrono::{Days, TimeDelta};
use preauth_core::value::{Timestamp, calendar};
use serde_json::json;
use test_support::{
    Backend, MailServer, Sandbox, offer_body,
    office::{list_mails, offer, offer_as, start, until, until_true},
    on_each_database,
    travel::{DAY, advance},
};

use crate::eml::Eml;

on_each_database! {
    a_head_office_sends_an_address_five_mails_a_day_and_joins_the_rest,
    offers_that_close_before_midnight_have_their_mail_before_they_close,
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

// Contract: service/mails
async fn a_head_office_sends_an_address_five_mails_a_day_and_joins_the_rest(backend: Backend) {
    let server = MailServer::start().await;
    let sandbox = start(backend, &server).await;
    for n in 0..OFFERS {
        offer(&sandbox, &format!("NF-{n:03}"), &address(n)).await;
    }
    offer(&sandbox, "NF-OTHER", "b@fornecedor.example.com").await;
    until_true("each is sent or held", async || {
        let sent = list_mails(&sandbox, "status=SENT").await.len();
        let held = list_mails(&sandbox, "status=HELD").await.len();
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
    let (own, joined): (Vec<_>, Vec<_>) = list_mails(&sandbox, "status=SENT")
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
    // A link for each offer, and one that ends such mails.
    for mail in &mails {
        let offers = mail.html.matches("Nota fiscal<").count();
        assert_eq!(mail.html.matches("href=").count(), offers + 1);
    }
}

/// The sandbox's time after its clock was advanced.
async fn after(sandbox: &Sandbox, seconds: i64) -> Timestamp {
    let clock = advance(sandbox, seconds.unsigned_abs()).await;
    Timestamp::parse(clock.json()["now"].as_str().unwrap()).unwrap()
}

async fn offers_that_close_before_midnight_have_their_mail_before_they_close(backend: Backend) {
    let server = MailServer::start().await;
    let sandbox = start(backend, &server).await;
    // Noon in São Paulo, on a day that has just begun.
    let now = after(&sandbox, 1).await;
    let noon = calendar::end_of_day(calendar::today(now)).saturating_add(TimeDelta::hours(12));
    let now = after(&sandbox, noon.since(now).num_seconds()).await;
    let address = "fin@fornecedor.example.com";
    for n in 0..5 {
        offer(&sandbox, &format!("NF-{n}"), address).await;
    }
    until(&sandbox, 5, "SENT").await;
    // The earliest due date: these close at the end of the day.
    for n in 5..8 {
        let mut body = offer_body(&sandbox, &format!("NF-{n}"));
        body["supplier"]["email"] = json!(address);
        let due = calendar::today(now).checked_add_days(Days::new(5)).unwrap();
        body["invoice"]["dueDate"] = json!(due.to_string());
        offer_as(&sandbox, &body).await;
    }
    offer(&sandbox, "NF-LATER", address).await;
    until(&sandbox, 4, "HELD").await;
    assert_eq!(server.taken_for(address).len(), 5);
    let nine = calendar::end_of_day(calendar::today(now)).saturating_add(TimeDelta::hours(-3));
    after(&sandbox, nine.since(now).num_seconds() + 60).await;
    until(&sandbox, 9, "SENT").await;
    let mails = server.taken_for(address);
    assert_eq!(mails.len(), 6, "one mail more, with all that wait");
    let last = Eml::parse(mails.last().unwrap()).text;
    for number in ["NF-5", "NF-6", "NF-7", "NF-LATER"] {
        assert!(last.contains(&format!("Nota fiscal: {number}")), "{last}");
    }
}
