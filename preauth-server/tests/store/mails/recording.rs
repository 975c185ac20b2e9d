//! Outcomes that are recorded late, because another session holds the mail's row.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use preauth_core::value::{CompanyId, Timestamp};
use preauth_server::mail::{Claimed, LeasedMail, MailClaim, MailQueue, MailSender, Outcome};
use preauth_server::worker::shutdown;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::store::fixture::Fixture;

use super::claims::{Standing, accepting_parts, recorded, two_flooded};

/// Mails of each of two head offices, besides one: more than are in progress at a time.
const MAILS: u32 = 7;

const PATIENCE: Duration = Duration::from_mins(1);

/// A queue that records outcomes of one head office, and releases its leases, only once it is let go.
struct Held {
    queue: Arc<dyn MailQueue>,
    head_office: CompanyId,
    let_go: Arc<Semaphore>,
}

impl Held {
    async fn wait_for(&self, leased: &LeasedMail) {
        if leased.head_office == self.head_office {
            drop(self.let_go.acquire().await.unwrap());
        }
    }
}

#[async_trait]
impl MailQueue for Held {
    async fn claim(&self, claim: &MailClaim) -> Result<Vec<Claimed>, Unavailable> {
        self.queue.claim(claim).await
    }

    async fn finish(&self, leased: &LeasedMail, outcome: &Outcome) -> Result<bool, Unavailable> {
        self.wait_for(leased).await;
        self.queue.finish(leased, outcome).await
    }

    async fn release(&self, leased: &LeasedMail) -> Result<(), Unavailable> {
        self.wait_for(leased).await;
        self.queue.release(leased).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        self.queue.next_due().await
    }
}

async fn wait_until_all_are_recorded(fixture: &Fixture, head_office: CompanyId) {
    let all = async {
        while recorded(fixture, head_office).await < i64::from(MAILS) + 1 {
            sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(
        timeout(PATIENCE, all).await.is_ok(),
        "attempts are recorded"
    );
}

#[tokio::test]
async fn mails_whose_rows_are_held_delay_no_mails_of_others() {
    let fixture = Fixture::new().await;
    let [held, other] = two_flooded(&fixture, MAILS).await;
    let let_go = Arc::new(Semaphore::new(0));
    let queue = Held {
        queue: Arc::clone(&fixture.stores.mails),
        head_office: held,
        let_go: Arc::clone(&let_go),
    };
    let clock = Arc::new(Standing(fixture.later(TimeDelta::seconds(1))));
    let sender = MailSender::new(Arc::new(queue), accepting_parts(), clock, Arc::default());
    let (trigger, until) = shutdown();
    let sending = tokio::spawn(async move { sender.run(until).await });
    wait_until_all_are_recorded(&fixture, other).await;
    assert_eq!(recorded(&fixture, held).await, 0);
    let_go.add_permits(1);
    wait_until_all_are_recorded(&fixture, held).await;
    trigger.request();
    sending.await.unwrap();
}
