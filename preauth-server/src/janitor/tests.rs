//! Each step over stores that fail, stop or have more.

use std::io::{Read, Seek};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use tokio::sync::Notify;

use super::{Janitor, REST, Retention};
use crate::clock::Clock;
use crate::store::{Housekeeping, OldFiles};
use crate::worker::shutdown;

const NOW: &str = "2026-11-21T12:00:00.000Z";

struct Standing;

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        Timestamp::parse(NOW).unwrap()
    }
}

/// A store with a number of records of each kind left; records the requests.
#[derive(Default)]
struct House {
    left: Mutex<u64>,
    asked: Mutex<Vec<String>>,
    /// Whether one kind, the first, always fails.
    is_broken: bool,
    /// Records of each kind that come again after each batch.
    comes: u64,
    /// Deliveries that are put off.
    put_off: Mutex<u64>,
    /// How long a batch of replies takes.
    takes: Duration,
    /// How often it was asked for endpoints that fail.
    asked_for_failing: AtomicU32,
}

impl House {
    fn forget(&self, kind: &str, before: Timestamp, limit: u32) -> u64 {
        let mut asked = self.asked.lock().unwrap();
        asked.push(format!("{kind} {before}"));
        assert!(asked.len() < 1_000, "it never rests");
        let mut left = self.left.lock().unwrap();
        let removed = (*left).min(u64::from(limit));
        *left = left.saturating_sub(removed).saturating_add(self.comes);
        removed
    }
}

#[async_trait]
impl Housekeeping for House {
    async fn settle_endpoints(&self, _limit: u32) -> Result<u64, Unavailable> {
        if self.is_broken {
            let cause = "the statement takes too long".into();
            return Err(Unavailable { cause });
        }
        Ok(0)
    }

    fn endpoints_unsettled(&self) -> Arc<Notify> {
        Arc::default()
    }

    async fn bring_forward(&self, _now: Timestamp, limit: u32) -> Result<u64, Unavailable> {
        let mut left = self.put_off.lock().unwrap();
        let brought = (*left).min(u64::from(limit));
        *left = left.saturating_sub(brought);
        Ok(brought)
    }

    async fn notify_of_failing(&self, _: Timestamp, _: u32) -> Result<u64, Unavailable> {
        self.asked_for_failing.fetch_add(1, Ordering::Relaxed);
        Ok(0)
    }

    async fn forget_expired_replies(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable> {
        tokio::time::sleep(self.takes).await;
        Ok(self.forget("replies", now, limit))
    }

    async fn forget_rate_windows(
        &self,
        _now: Timestamp,
        unused_since: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable> {
        Ok(self.forget("windows", unused_since, limit))
    }

    async fn forget_ended_deliveries(
        &self,
        ended_before: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable> {
        Ok(self.forget("deliveries", ended_before, limit))
    }

    async fn forget_ended_mails(
        &self,
        ended_before: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable> {
        Ok(self.forget("mails", ended_before, limit))
    }

    async fn forget_old_files(
        &self,
        _now: Timestamp,
        _ended_before: Timestamp,
        _after: i64,
        _limit: u32,
    ) -> Result<OldFiles, Unavailable> {
        Ok(OldFiles::default())
    }

    async fn forget_event_numbers(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable> {
        Ok(self.forget("event numbers", before, limit))
    }

    async fn sum_up_counts(&self, _limit: u32) -> Result<u64, Unavailable> {
        Ok(0)
    }
}

fn house(left: u64) -> Arc<House> {
    Arc::new(House {
        left: Mutex::new(left),
        ..House::default()
    })
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_fails_keeps_none_of_the_others_waiting() {
    let house = Arc::new(House {
        left: Mutex::new(2_000),
        is_broken: true,
        ..House::default()
    });
    let janitor = Janitor::new(house.clone(), Arc::new(Standing), Retention::default());
    assert!(janitor.run_once().await.is_err());
    let (trigger, watching) = shutdown();
    let watch = async {
        // Less than its rest between two steps.
        tokio::time::sleep(REST / 2).await;
        trigger.request();
    };
    tokio::join!(janitor.run(watching), watch);
    assert_eq!(*house.left.lock().unwrap(), 0);
    assert!(janitor.health().failures() > 0);
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_always_has_a_few_more_rests_between_batches() {
    let house = Arc::new(House {
        left: Mutex::new(1_000),
        comes: 3,
        ..House::default()
    });
    let janitor = Janitor::new(house.clone(), Arc::new(Standing), Retention::default());
    let (trigger, watching) = shutdown();
    let watch = async {
        tokio::time::sleep(REST * 10 + REST / 2).await;
        trigger.request();
    };
    tokio::join!(janitor.run(watching), watch);
    // Five kinds, each once after each rest; in the beginning some more for what had piled up.
    let asked = house.asked.lock().unwrap().len();
    assert!((55..70).contains(&asked), "{asked} batches in ten rests");
}

#[tokio::test(start_paused = true)]
async fn a_backlog_leaves_the_database_to_others_for_two_thirds_of_the_time() {
    let house = Arc::new(House {
        left: Mutex::new(20_000),
        takes: Duration::from_millis(30),
        ..House::default()
    });
    let janitor = Janitor::new(house.clone(), Arc::new(Standing), Retention::default());
    let (trigger, watching) = shutdown();
    let watch = async {
        // A thousand records in each round.
        tokio::time::sleep(Duration::from_millis(90 * 10 - 1)).await;
        let left = *house.left.lock().unwrap();
        trigger.request();
        left
    };
    let ((), left) = tokio::join!(janitor.run(watching), watch);
    assert_eq!(left, 10_000);
}

#[tokio::test(start_paused = true)]
async fn a_long_backlog_keeps_no_other_kind_waiting_until_its_end() {
    let house = Arc::new(House {
        left: Mutex::new(u64::MAX / 2),
        takes: Duration::from_secs(1),
        ..House::default()
    });
    let janitor = Janitor::new(house.clone(), Arc::new(Standing), Retention::default());
    let (trigger, watching) = shutdown();
    let watch = async {
        tokio::time::sleep(REST * 4 + REST / 2).await;
        trigger.request();
    };
    tokio::join!(janitor.run(watching), watch);
    let asked = house.asked_for_failing.load(Ordering::Relaxed);
    assert!(
        (4..=5).contains(&asked),
        "{asked} times in four and a half rests"
    );
}

#[tokio::test(start_paused = true)]
async fn a_repair_is_reported_once_with_its_total() {
    let house = Arc::new(House {
        put_off: Mutex::new(450),
        ..House::default()
    });
    let janitor = Janitor::new(house.clone(), Arc::new(Standing), Retention::default());
    let log = Arc::new(tempfile::tempfile().unwrap());
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(Arc::clone(&log));
    let listening = tracing::subscriber::set_default(subscriber.finish());
    let (trigger, watching) = shutdown();
    let watch = async {
        tokio::time::sleep(REST / 2).await;
        trigger.request();
    };
    tokio::join!(janitor.run(watching), watch);
    drop(listening);
    assert_eq!(*house.put_off.lock().unwrap(), 0);
    let mut lines = String::new();
    let mut log = &*log;
    log.rewind().unwrap();
    log.read_to_string(&mut lines).unwrap();
    assert_eq!(lines.lines().count(), 1, "{lines}");
    assert!(lines.contains("brought=450"), "{lines}");
}

#[tokio::test]
async fn steps_are_small_and_go_on_until_nothing_is_left() {
    let house = house(2_000);
    let janitor = Janitor::new(house.clone(), Arc::new(Standing), Retention::default());
    let mut steps = Vec::new();
    while let removed @ 1.. = janitor.run_once().await.unwrap() {
        steps.push(removed);
    }
    assert_eq!(steps, [1_000, 1_000]);
}

#[tokio::test]
async fn each_kind_is_kept_as_long_as_it_should_be() {
    let house = house(0);
    let janitor = Janitor::new(house.clone(), Arc::new(Standing), Retention::default());
    janitor.run_once().await.unwrap();
    let asked = house.asked.lock().unwrap().clone();
    let expected = [
        "replies 2026-11-21T12:00:00.000Z",
        "windows 2026-10-22T12:00:00.000Z",
        "deliveries 2026-10-22T12:00:00.000Z",
        "mails 2026-10-22T12:00:00.000Z",
        "event numbers 2026-10-22T12:00:00.000Z",
    ];
    assert_eq!(asked, expected);
}
