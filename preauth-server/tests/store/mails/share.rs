//! The daily limit of an address, and of the new addresses of a head office.

use std::sync::Arc;

use preauth_core::operation::Actor;
use preauth_core::value::Email;
use preauth_server::directory::MailStatus;
use preauth_server::mail::Outcome;
use tokio::task::JoinSet;

use crate::store::fixture::Fixture;

use super::{SHARE, claim, claim_within, count, end_leases, lease, lease_by, staged};

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
        let mut offer = fixture.new_offer(payer);
        offer.supplier.email = Email::parse(address).unwrap();
        let offered = fixture
            .service
            .offer(&offer, Actor::Company, None, fixture.now);
        offered.await.unwrap();
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
