//! Looks at a database that hangs or fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use futures_util::future::join_all;
use preauth_core::port::Unavailable;
use preauth_core::value::CompanyId;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::{EventNumbers, Look, Numbered, Numberer, Waiters};
use crate::clock::SystemClock;
use crate::fair::{Tenant, charged_to};

/// A database that takes its time, and then fails or not.
#[derive(Default)]
struct Slow {
    takes: Duration,
    /// The number of looks that fail, from the first one on.
    fails: u64,
    looks: AtomicU64,
}

#[async_trait]
impl EventNumbers for Slow {
    async fn number(&self, _look: Look) -> Result<Numbered, Unavailable> {
        let looks = self.looks.fetch_add(1, Ordering::SeqCst);
        sleep(self.takes).await;
        if looks < self.fails {
            return Err(Unavailable {
                cause: "canceling statement due to statement timeout".into(),
            });
        }
        Ok(Numbered::default())
    }

    fn committed(&self) -> Arc<Notify> {
        Arc::default()
    }
}

fn numberer(takes: Duration, fails: u64) -> (Arc<Slow>, Numberer) {
    let numbers = Arc::new(Slow {
        takes,
        fails,
        ..Slow::default()
    });
    let given: Arc<dyn EventNumbers> = numbers.clone();
    let (clock, retention) = (Arc::new(SystemClock), TimeDelta::days(30));
    let numberer = Numberer::new(given, clock, retention, Waiters::new(100));
    (numbers, numberer)
}

/// A request that needs the latest events.
async fn request(numberer: &Numberer) -> Result<(), Unavailable> {
    let tenant = Tenant::HeadOffice(CompanyId::new(Uuid::from_u128(1)));
    charged_to(tenant, numberer.catch_up()).await
}

#[tokio::test(start_paused = true)]
async fn a_failed_look_is_the_answer_to_all_who_came_before_it_began() {
    let (numbers, numberer) = numberer(Duration::from_secs(2), u64::MAX);
    let asked = join_all((0..20).map(|_| request(&numberer))).await;
    for answer in &asked {
        let error = answer.as_ref().unwrap_err();
        let text = crate::log::chain(error);
        assert!(text.contains("statement timeout"), "{text}");
    }
    // One for the first of them, and one that began after the others had come.
    assert_eq!(numbers.looks.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_longer_for_the_look_of_another_than_in_a_queue() {
    let (numbers, numberer) = numberer(Duration::from_secs(30), u64::MAX);
    let began = Instant::now();
    let waited = async {
        tokio::task::yield_now().await;
        let asked = join_all((0..50).map(|_| request(&numberer))).await;
        assert!(asked.iter().all(Result::is_err));
        began.elapsed()
    };
    let (first, waited) = tokio::join!(request(&numberer), waited);
    assert!(first.is_err());
    assert!(waited < Duration::from_secs(6), "{waited:?}");
    assert_eq!(numbers.looks.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_failed_look_is_forgotten_by_those_who_come_after_it() {
    let (numbers, numberer) = numberer(Duration::from_secs(1), 1);
    assert!(request(&numberer).await.is_err());
    let asked = join_all((0..20).map(|_| request(&numberer))).await;
    assert!(asked.iter().all(Result::is_ok));
    // The second one is for those who came when the first had begun.
    assert_eq!(numbers.looks.load(Ordering::SeqCst), 3);
}
