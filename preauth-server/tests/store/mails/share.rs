//! The daily limit of an address, and of the new addresses of a head office.

use std::sync::Arc;

use chrono::{Days, TimeDelta};
use preauth_core::operation::{Actor, EARLIEST_DUE_DAYS};
use preauth_core::value::{CompanyId, DueDate, Email, calendar};
use preauth_server::directory::MailStatus;
use preauth_server::mail::{MailClaim, Outcome};
use tokio::task::JoinSet;

use crate::store::fixture::Fixture;

use super::{
    SHARE, claim, claim_within, count, end_leases, lease, lease_by, lease_several,
    offers_to_one_mailbox, staged,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_address_gets_exactly_its_share_however_many_claim_at_once() {
    let fixture = Fixture::new().await;
    let payer = staged(&fixture, SHARE + 10).await;
    let mut lanes = JoinSet::new();
    for lane in 0..8 {
        let (queue, now) = (Arc::clone(&fixture.stores.mails), fixture.now);
        lanes.spawn(async move {
            let mut sent: u32 = 0;
            while let Some(leased) = lease(&*queue, now).await {
                // One in eight fails at first, and releases its place.
                let outcome = if lane == 0 && leased.attempts_made == 0 {
                    let error = "greylisted".to_owned();
                    Outcome::RetryAt { at: now, error }
                } else {
                    sent += 1;
                    Outcome::Sent { at: now }
                };
                assert!(queue.finish(&leased, &outcome).await.unwrap());
            }
            sent
        });
    }
    let sent: u32 = lanes.join_all().await.into_iter().sum();
    // A mail put off behind others in progress gets its turn when these have failed.
    let soon = fixture.later(claim(fixture.now).lease);
    let queue = &*fixture.stores.mails;
    let mut late = 0;
    while let Some(leased) = lease(queue, soon).await {
        let outcome = Outcome::Sent { at: soon };
        assert!(queue.finish(&leased, &outcome).await.unwrap());
        late += 1;
    }
    assert!(sent + late <= SHARE, "{sent} and {late}");
    // The last one included the others; later ones are combined tomorrow.
    let tomorrow = claim(soon).share.ends;
    while let Some(leased) = lease(queue, tomorrow).await {
        let outcome = Outcome::Sent { at: tomorrow };
        assert!(queue.finish(&leased, &outcome).await.unwrap());
    }
    let all = u64::from(SHARE + 10);
    assert_eq!(count(&fixture, payer, MailStatus::Sent).await, all);
}

/// An offer whose mail goes to `address`.
async fn offer_to(fixture: &Fixture, payer: CompanyId, address: &str) {
    let mut offer = fixture.new_offer(payer);
    offer.supplier.email = Email::parse(address).unwrap();
    let offered = fixture
        .service
        .offer(&offer, Actor::Company, None, fixture.now);
    offered.await.unwrap();
}

#[tokio::test]
async fn new_addresses_of_a_head_office_are_bounded_and_known_ones_are_not() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    for address in [
        "a@example.com",
        "b@example.com",
        "c@example.com",
        "a+1@example.com",
    ] {
        offer_to(&fixture, payer, address).await;
    }
    let queue = &*fixture.stores.mails;
    let today = claim_within(fixture.now, 5, 2);
    let mut reached = Vec::new();
    while let Some(leased) = lease_by(queue, &today).await {
        reached.push((leased.recipient.as_str().to_owned(), leased.new_mailboxes));
        let sent = Outcome::Sent { at: fixture.now };
        assert!(queue.finish(&leased, &sent).await.unwrap());
    }
    let expected = [
        ("a@example.com", Some(1)),
        ("b@example.com", Some(2)),
        ("a+1@example.com", None),
    ];
    assert_eq!(
        reached,
        expected.map(|(to, reached)| (to.to_owned(), reached))
    );
    assert_eq!(count(&fixture, payer, MailStatus::Held).await, 1);
    let tomorrow = claim_within(today.share.ends, 5, 2);
    let held = lease_by(queue, &tomorrow).await.unwrap();
    assert_eq!(held.recipient.as_str(), "c@example.com");
}

#[tokio::test]
async fn what_waits_for_several_mailboxes_is_postponed_for_each_and_for_one_head_office() {
    let fixture = Fixture::new().await;
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    for address in [
        "a@example.com",
        "b@example.com",
        "c@example.com",
        "b+1@example.com",
        "c+1@example.com",
    ] {
        offer_to(&fixture, payer, address).await;
    }
    offer_to(&fixture, other, "c@example.com").await;
    let queue = &*fixture.stores.mails;
    let today = MailClaim {
        limit: 16,
        ..claim_within(fixture.now, 5, 1)
    };
    let mut reached = Vec::new();
    while let Some(leased) = lease_several(queue, &today).await {
        for mail in leased {
            reached.push((mail.head_office, mail.recipient.as_str().to_owned()));
            let sent = Outcome::Sent { at: fixture.now };
            assert!(queue.finish(&mail, &sent).await.unwrap());
        }
    }
    reached.sort_by_key(|(office, _)| *office != payer);
    let expected = [(payer, "a@example.com"), (other, "c@example.com")];
    assert_eq!(
        reached,
        expected.map(|(office, to)| (office, to.to_owned()))
    );
    assert_eq!(count(&fixture, payer, MailStatus::Held).await, 4);
    assert_eq!(count(&fixture, other, MailStatus::Held).await, 0);
}

#[tokio::test]
async fn a_mail_whose_lease_ran_out_keeps_its_place_in_the_share() {
    let fixture = Fixture::new().await;
    staged(&fixture, SHARE + 1).await;
    let queue = &*fixture.stores.mails;
    for _ in 0..SHARE {
        assert!(lease(queue, fixture.now).await.is_some());
    }
    assert_eq!(lease(queue, fixture.now).await, None);
    // The outcome of these is unknown: they are claimed again, and no others.
    end_leases(&fixture).await;
    let mut again = 0;
    while lease(queue, fixture.now).await.is_some() {
        again += 1;
    }
    assert_eq!(again, SHARE);
}

/// A claim would only postpone them.
#[tokio::test]
async fn mails_to_a_mailbox_that_got_its_share_are_held_by_their_commits() {
    let fixture = Fixture::new().await;
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    let queue = &*fixture.stores.mails;
    let today = claim_within(fixture.now, 2, 10_000);
    offers_to_one_mailbox(&fixture, payer, 2).await;
    let sent = Outcome::Sent { at: fixture.now };
    while let Some(leased) = lease_by(queue, &today).await {
        assert!(queue.finish(&leased, &sent).await.unwrap());
    }
    // Its claim finds the mailbox full.
    offers_to_one_mailbox(&fixture, payer, 1).await;
    assert_eq!(count(&fixture, payer, MailStatus::Held).await, 0);
    assert_eq!(lease_by(queue, &today).await, None);
    offers_to_one_mailbox(&fixture, payer, 3).await;
    assert_eq!(count(&fixture, payer, MailStatus::Held).await, 4);

    // Not that of another head office, of an offer that closes before, or of one made when the
    // finding is old.
    offers_to_one_mailbox(&fixture, other, 1).await;
    let mut closing = fixture.new_offer(payer);
    let days = Days::new(EARLIEST_DUE_DAYS.unsigned_abs());
    let earliest = calendar::today(fixture.now).checked_add_days(days);
    closing.invoice.due_date = DueDate::from_date(earliest.unwrap()).unwrap();
    assert!(fixture.make(&closing).await.expires_at < Some(today.share.ends));
    let later = fixture.later(TimeDelta::seconds(10));
    fixture.offer_at(payer, later).await;
    assert_eq!(count(&fixture, payer, MailStatus::Held).await, 4);
    assert_eq!(count(&fixture, other, MailStatus::Pending).await, 1);
    let first = lease_by(queue, &today).await.unwrap();
    assert_eq!(first.head_office, other);

    // Tomorrow one mail has them all.
    let tomorrow = claim_within(today.share.ends, 1, 10_000);
    let leased = lease_by(queue, &tomorrow).await.unwrap();
    assert_eq!((leased.head_office, leased.joined.len()), (payer, 4));
}
