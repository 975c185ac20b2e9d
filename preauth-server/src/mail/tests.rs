//! The pace of claims, with a queue that always has as many due mails as it is set to.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use preauth_core::port::{MailKind, Unavailable};
use preauth_core::value::{CompanyId, Email, MailId, Timestamp};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::{
    Claimed, LeasedMail, Letterhead, MailClaim, MailLimits, MailParts, MailQueue, MailSender,
    NotTaken, Outcome, OutgoingMail, Transport,
};
use crate::clock::Clock;
use crate::live::Live;
use crate::worker::shutdown;

/// How long the sender runs, in paused time.
const RUN: Duration = Duration::from_secs(2);
/// Time in which a mail is sent and recorded.
const STEP: Duration = Duration::from_millis(5);

struct Queue {
    /// Mails that each claim leases.
    due: u128,
    claims: Mutex<Vec<Instant>>,
    finished: AtomicU64,
}

#[async_trait]
impl MailQueue for Queue {
    async fn claim(&self, _: &MailClaim) -> Result<Vec<Claimed>, Unavailable> {
        self.claims.lock().unwrap().push(Instant::now());
        Ok((0..self.due).map(|n| Claimed::Leased(leased(n))).collect())
    }

    async fn finish(&self, _: &LeasedMail, _: &Outcome) -> Result<bool, Unavailable> {
        sleep(STEP).await;
        self.finished.fetch_add(1, Ordering::Relaxed);
        Ok(true)
    }

    async fn release(&self, _: &LeasedMail) -> Result<(), Unavailable> {
        Ok(())
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        Ok(Some(Noon.now()))
    }
}

fn leased(n: u128) -> Box<LeasedMail> {
    Box::new(LeasedMail {
        id: MailId::new(Uuid::from_u128(n)),
        token: 1,
        kind: MailKind::Offer,
        recipient: Email::parse("a@fornecedor.example.com").unwrap(),
        // No build can write it; it is attempted all the same.
        content: "{}".to_owned(),
        attempts_made: 0,
        head_office: CompanyId::new(Uuid::nil()),
        joined: Vec::new(),
        new_mailboxes: None,
    })
}

struct Noon;

impl Clock for Noon {
    fn now(&self) -> Timestamp {
        Timestamp::parse("2026-11-21T12:00:00Z").unwrap()
    }
}

struct Unused;

#[async_trait]
impl Transport for Unused {
    async fn hand_over(&self, _: &OutgoingMail) -> Result<String, NotTaken> {
        Ok(String::new())
    }
}

/// The times of the claims while each finds `due` mails, all of which are recorded at the end.
async fn claims(due: u128) -> Vec<Instant> {
    let queue = Arc::new(Queue {
        due,
        claims: Mutex::default(),
        finished: AtomicU64::new(0),
    });
    let parts = MailParts {
        letterhead: Letterhead {
            pages: None,
            from: "avisos@preauth.example".parse().unwrap(),
            portal: None,
        },
        limits: Live::new(MailLimits::default()),
        transport: Arc::new(Unused),
    };
    let mails = Arc::<Queue>::clone(&queue);
    let sender = MailSender::new(mails, parts, Arc::new(Noon), Arc::default());
    let (trigger, until) = shutdown();
    tokio::join!(sender.run(until), async {
        sleep(RUN).await;
        trigger.request();
    });
    let claims = queue.claims.lock().unwrap().clone();
    assert!(queue.finished.load(Ordering::Relaxed) > 0);
    claims
}

#[tokio::test(start_paused = true)]
async fn claims_that_find_few_mails_are_apart_and_full_ones_are_not() {
    let few = claims(1).await;
    assert!((2..=21).contains(&few.len()), "{}", few.len());
    let full = claims(16).await;
    assert!(full.len() > 40, "{}", full.len());
}
