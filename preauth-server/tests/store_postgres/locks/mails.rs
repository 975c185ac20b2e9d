//! Mails whose rows somebody holds.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use preauth_core::value::{CompanyId, Timestamp};
use preauth_server::mail::{Claimed, LeasedMail, MailClaim, MailQueue, MailSender, Outcome};
use preauth_server::worker::shutdown;
use tokio::sync::Mutex;
use tokio::time::sleep;

use crate::store::fixture::Fixture;
use crate::store::mails::claims::{Standing, accepting_parts, recorded, two_flooded};
use crate::store::mails::{claim, lease_by};

use super::{Holder, ROUNDS, goes_on_beside, one_waits};

/// Locks a mail, and the mails that go in it, or that it goes in.
async fn a_held_mail_is_passed_over(sql: &str) {
    let fixture = Fixture::new().await;
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    let held = [fixture.offer(payer).await, fixture.offer(payer).await];
    let sent = fixture.offer(other).await;
    sqlx::query(
        "UPDATE notices SET joined_to = (SELECT id FROM notices WHERE operation_id = $1)
         WHERE operation_id = $2",
    )
    .bind(held[0].id.get())
    .bind(held[1].id.get())
    .execute(&fixture.sql)
    .await
    .unwrap();
    let holder = Holder::of(&fixture, sql).await;
    let queue = fixture.stores.mails.as_ref();
    let claim = claim(fixture.later(TimeDelta::seconds(1)));
    let leased = lease_by(queue, &claim).await.unwrap();
    assert_eq!(operation_of(&fixture, &leased).await, sent.id.get());
    assert_eq!(lease_by(queue, &claim).await, None);
    holder.let_go().await;
    // The first look of an instance is a complete one.
    let instance = Fixture::on(&fixture.database, 2).await;
    let queue = instance.stores.mails.as_ref();
    let leased = lease_by(queue, &claim).await.unwrap();
    assert_eq!(operation_of(&fixture, &leased).await, held[0].id.get());
    assert_eq!(leased.joined.len(), 1);
}

async fn operation_of(fixture: &Fixture, leased: &LeasedMail) -> i64 {
    sqlx::query_scalar("SELECT operation_id FROM notices WHERE id = $1")
        .bind(leased.id.as_uuid())
        .fetch_one(&fixture.sql)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_held_mail_delays_no_other() {
    a_held_mail_is_passed_over(
        "SELECT 1 FROM notices WHERE joined_to IS NULL
         ORDER BY next_attempt_at, id LIMIT 1 FOR UPDATE",
    )
    .await;
}

#[tokio::test]
async fn a_held_mail_that_goes_in_another_delays_no_other() {
    a_held_mail_is_passed_over("SELECT 1 FROM notices WHERE joined_to IS NOT NULL FOR UPDATE")
        .await;
}

/// The end of an attempt at a mail whose row is locked after it was leased.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_mail_delays_the_end_of_its_own_attempt_and_no_others() {
    let fixture = Arc::new(Fixture::new().await);
    for _ in 0..4 {
        fixture.offer(fixture.payer().await).await;
    }
    let claim = claim(fixture.later(TimeDelta::seconds(1)));
    let mut leased = Vec::new();
    while let Some(mail) = lease_by(fixture.stores.mails.as_ref(), &claim).await {
        leased.push(Arc::new(mail));
    }
    assert_eq!(leased.len(), 4);
    let held = leased.pop().unwrap();
    let sql = format!(
        "SELECT 1 FROM notices WHERE id = '{}' FOR UPDATE",
        held.id.as_uuid()
    );
    let holder = Holder::of(&fixture, &sql).await;
    let finish = |mail: &Arc<LeasedMail>| {
        let (fixture, mail) = (Arc::clone(&fixture), Arc::clone(mail));
        tokio::spawn(async move {
            let sent = Outcome::Sent { at: fixture.now };
            fixture.stores.mails.finish(&mail, &sent).await
        })
    };
    let beside = async || {
        one_waits(&fixture).await;
        for mail in &leased {
            // Recorded once; in a further round its lease is over.
            finish(mail).await.unwrap().unwrap();
        }
    };
    let recorded = goes_on_beside(holder, || vec![finish(&held)], beside).await;
    assert_eq!(recorded, [true]);
    let sent = "SELECT count(*) FROM notices WHERE status = 'SENT'";
    let sent: i64 = sqlx::query_scalar(sent)
        .fetch_one(&fixture.sql)
        .await
        .unwrap();
    assert_eq!(sent, 4);
}

/// A lease that is given up without an attempt.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_mail_delays_its_own_release_and_no_claim() {
    let fixture = Arc::new(Fixture::new().await);
    fixture.offer(fixture.payer().await).await;
    let claim = claim(fixture.later(TimeDelta::seconds(1)));
    let held = lease_by(fixture.stores.mails.as_ref(), &claim).await;
    let held = Arc::new(held.unwrap());
    let sql = format!(
        "SELECT 1 FROM notices WHERE id = '{}' FOR UPDATE",
        held.id.as_uuid()
    );
    let holder = Holder::of(&fixture, &sql).await;
    let release = |_| {
        let (fixture, held) = (Arc::clone(&fixture), Arc::clone(&held));
        tokio::spawn(async move { fixture.stores.mails.release(&held).await })
    };
    let beside = async || {
        one_waits(&fixture).await;
        fixture.offer(fixture.payer().await).await;
        let leased = lease_by(fixture.stores.mails.as_ref(), &claim).await;
        assert!(leased.is_some_and(|leased| leased.id != held.id));
    };
    goes_on_beside(holder, || (0..3).map(release).collect(), beside).await;
    let again = lease_by(fixture.stores.mails.as_ref(), &claim).await;
    assert_eq!(again.map(|it| it.id), Some(held.id));
}

/// Mails of each of two head offices: more than a sender has lanes.
const MAILS: u32 = 7;

/// A queue whose mails of one head office are locked as soon as they are leased.
struct HeldOnceLeased {
    queue: Arc<dyn MailQueue>,
    head_office: CompanyId,
    holder: Mutex<Holder>,
    /// The defect of waiting for each other's recording.
    one_by_one: Option<Mutex<()>>,
    /// The recordings of locked mails that ended.
    given_up: Arc<AtomicUsize>,
}

#[async_trait]
impl MailQueue for HeldOnceLeased {
    async fn claim(&self, claim: &MailClaim) -> Result<Vec<Claimed>, Unavailable> {
        let claimed = self.queue.claim(claim).await?;
        for mail in &claimed {
            if let Claimed::Leased(leased) = mail
                && leased.head_office == self.head_office
            {
                let id = leased.id.as_uuid();
                let sql = format!("SELECT 1 FROM notices WHERE id = '{id}' FOR UPDATE");
                self.holder.lock().await.lock(&sql).await;
            }
        }
        Ok(claimed)
    }

    async fn finish(&self, leased: &LeasedMail, outcome: &Outcome) -> Result<bool, Unavailable> {
        let _alone = match &self.one_by_one {
            Some(turn) => Some(turn.lock().await),
            None => None,
        };
        let recorded = self.queue.finish(leased, outcome).await;
        if leased.head_office == self.head_office {
            self.given_up.fetch_add(1, Ordering::Relaxed);
        }
        recorded
    }

    async fn release(&self, leased: &LeasedMail) -> Result<(), Unavailable> {
        self.queue.release(leased).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        self.queue.next_due().await
    }
}

/// Whether all mails of a head office are recorded before the first recording of another's, whose rows are
/// locked, is given up.
async fn others_are_recorded_first(one_by_one: Option<Mutex<()>>) -> bool {
    let fixture = Fixture::new().await;
    let [held, other] = two_flooded(&fixture, MAILS).await;
    let given_up = Arc::new(AtomicUsize::new(0));
    let queue = HeldOnceLeased {
        queue: Arc::clone(&fixture.stores.mails),
        head_office: held,
        holder: Mutex::new(Holder::of(&fixture, "SELECT 1").await),
        one_by_one,
        given_up: Arc::clone(&given_up),
    };
    let clock = Arc::new(Standing(fixture.later(TimeDelta::seconds(1))));
    let sender = MailSender::new(Arc::new(queue), accepting_parts(), clock, Arc::default());
    let (trigger, until) = shutdown();
    let sending = tokio::spawn(async move { sender.run(until).await });
    while recorded(&fixture, other).await < i64::from(MAILS) + 1 {
        if given_up.load(Ordering::Relaxed) > 0 {
            sending.abort();
            return false;
        }
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(recorded(&fixture, held).await, 0);
    trigger.request();
    sending.await.unwrap();
    true
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn held_mails_delay_no_lane_of_their_sender() {
    for _ in 0..ROUNDS {
        if others_are_recorded_first(None).await {
            return;
        }
    }
    panic!("{ROUNDS} times held mails were given up before others were recorded");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn recordings_that_wait_for_a_held_mail_are_found() {
    assert!(!others_are_recorded_first(Some(Mutex::default())).await);
}
