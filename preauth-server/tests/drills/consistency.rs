//! Acknowledged offers, stored operations and received events must match.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use preauth_client::ListFilter;
use preauth_client::wire::PreAuthorization;
use serde_json::Value;
use test_support::{RawCaller, Sandbox};
use tokio::time::Instant;

use crate::erp::{Entry, Outcome};
use crate::history::{History, What};
use crate::overlap::nothing_overlaps;
use crate::receiver::Event;
use crate::scene::Scene;

const PAGE: u32 = 100;
/// Creates that are repeated at once.
const REPEATED_AT_ONCE: usize = 16;
/// How long deliveries may take after the fault: an expired lease, and the attempts after it.
const PATIENCE: Duration = Duration::from_mins(5);

/// The figures of a successful drill.
#[derive(Debug)]
pub(crate) struct Figures {
    pub(crate) acknowledged: usize,
    pub(crate) unknown: usize,
    pub(crate) not_done: usize,
    events: usize,
    pub(crate) duplicates: usize,
}

/// The state after a drill.
struct Left {
    entries: Vec<Entry>,
    operations: BTreeMap<String, PreAuthorization>,
    /// Every delivery, by event id.
    deliveries: BTreeMap<String, Stored>,
    received: BTreeMap<String, Event>,
}

/// A delivery, as it is stored.
pub(crate) struct Stored {
    body: String,
    /// Whether an attempt is on record that the receiver did not confirm.
    has_failed: bool,
}

/// Waits until nothing is left to send, and checks.
pub(crate) async fn check(scene: &Scene) -> Figures {
    let deliveries = Deliveries::of(scene.first().sandbox()).await;
    deliveries.none_pending().await;
    let left = Left {
        entries: scene.ledger.entries(),
        operations: operations(scene).await,
        deliveries: deliveries.stored().await,
        received: scene.receiver.events(),
    };
    let violations = history(scene, &left.entries).await.violations().await;
    assert_eq!(violations, [""; 0]);
    assert_eq!(scene.receiver.wrongs(), [""; 0], "wrongs arrived");
    left.every_answer_matches_its_operation();
    left.every_event_arrived_as_it_is_stored();
    left.no_attempts_overlap();
    left.every_operation_has_its_events();
    replays_are_byte_equal(scene, &left).await;
    scene.first().passes_its_audit().await;
    left.figures(scene.receiver.arrivals())
}

async fn operations(scene: &Scene) -> BTreeMap<String, PreAuthorization> {
    let erp = scene.erp(0);
    let mut operations = BTreeMap::new();
    for page in 1.. {
        let filter = ListFilter::new().page(page).limit(PAGE);
        let list = erp.client().list(&filter).await.unwrap().into_value();
        let is_last = list.pagination.total_pages <= page;
        for operation in list.data {
            let number = operation.invoice.number.clone().unwrap();
            let second = operations.insert(number.clone(), operation);
            assert!(second.is_none(), "{number} exists twice");
        }
        if is_last {
            break;
        }
    }
    operations
}

/// What was sent and received, as it was.
async fn history(scene: &Scene, entries: &[Entry]) -> History {
    let mut history = History::default();
    for entry in entries {
        let number = Some(&entry.number[..]);
        match &entry.outcome {
            Outcome::Created {
                body, cancelled, ..
            } => {
                history.add(What::Acknowledged, number, Some(body));
                if *cancelled {
                    history.add(What::Canceled, number, None);
                }
            }
            Outcome::NotDone => history.add(What::Refused, number, None),
            Outcome::Unknown => history.add(What::Unanswered, number, None),
        }
    }
    for page in scene.erp(0).listed(PAGE).await {
        history.add(What::Listed, None, Some(page.as_bytes()));
    }
    for body in scene.receiver.bodies() {
        history.add(What::Received, None, Some(&body));
    }
    history
}

/// The platform API's view of a company's deliveries.
pub(crate) struct Deliveries {
    platform: RawCaller,
    path: String,
}

impl Deliveries {
    async fn of(sandbox: &Sandbox) -> Self {
        Self::of_company(sandbox.platform(), &sandbox.company().await)
    }

    pub(crate) fn of_company(platform: RawCaller, company: &str) -> Self {
        Self {
            platform,
            path: format!("/api/platform/v1/companies/{company}/deliveries"),
        }
    }

    async fn list(&self, query: &str) -> Value {
        let answer = self.platform.get(&format!("{}?{query}", self.path)).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()
    }

    async fn count(&self, status: &str) -> u64 {
        let list = self.list(&format!("status={status}&limit=1")).await;
        list["pagination"]["total"].as_u64().unwrap()
    }

    /// Waits until every delivery of the newest page has at least this many attempts.
    pub(crate) async fn all_tried(&self, times: usize) {
        let began = Instant::now();
        loop {
            let list = self.list(&format!("limit={PAGE}")).await;
            let mut deliveries = list["data"].as_array().unwrap().iter();
            if deliveries.all(|it| it["attempts"].as_array().unwrap().len() >= times) {
                return;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "not tried {times} times: {list}"
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Waits until every delivery is delivered.
    pub(crate) async fn none_pending(&self) {
        let began = Instant::now();
        while self.count("PENDING").await > 0 {
            assert!(began.elapsed() < PATIENCE, "deliveries are still pending");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(self.count("FAILED").await, 0);
    }

    /// What is stored of every delivery, by event id.
    pub(crate) async fn stored(&self) -> BTreeMap<String, Stored> {
        let mut all = BTreeMap::new();
        for page in 1.. {
            let list = self.list(&format!("page={page}&limit={PAGE}")).await;
            for delivery in list["data"].as_array().unwrap() {
                let text = |name: &str| delivery[name].as_str().unwrap().to_owned();
                let attempts = delivery["attempts"].as_array().unwrap();
                let stored = Stored {
                    body: text("body"),
                    has_failed: attempts.iter().any(|it| it["httpStatus"] != 204),
                };
                let second = all.insert(text("eventId"), stored);
                assert!(second.is_none(), "one event, one delivery: {delivery}");
            }
            if list["pagination"]["totalPages"].as_u64().unwrap() <= page {
                break;
            }
        }
        all
    }
}

/// Also shows that no key is stuck in progress.
async fn replays_are_byte_equal(scene: &Scene, left: &Left) {
    let erp = &scene.erp(0);
    let created = left.entries.iter().filter_map(|entry| match entry {
        Entry {
            number,
            key: Some(key),
            outcome: Outcome::Created { body, .. },
        } => Some((number, key, body)),
        _ => None,
    });
    let repeats = created.map(|(number, key, body)| async move {
        let (repeated, is_replay) = erp.repeat(number, key).await;
        assert!(is_replay, "{key}");
        assert_eq!(
            String::from_utf8_lossy(&repeated),
            String::from_utf8_lossy(body)
        );
    });
    let at_once = stream::iter(repeats).for_each_concurrent(REPEATED_AT_ONCE, |it| it);
    at_once.await;
}

/// The events that have a failed attempt on record.
pub(crate) fn retried(deliveries: &BTreeMap<String, Stored>) -> BTreeSet<String> {
    let failed = deliveries.iter().filter(|(_, it)| it.has_failed);
    failed.map(|(event, _)| event.clone()).collect()
}

impl Left {
    fn every_answer_matches_its_operation(&self) {
        for entry in &self.entries {
            let operation = self.operations.get(&entry.number);
            match &entry.outcome {
                Outcome::Created { id, cancelled, .. } => {
                    let operation = operation.unwrap_or_else(|| panic!("lost: {entry:?}"));
                    assert_eq!(operation.id.get(), *id, "{entry:?}");
                    let is_reproved = operation.status.as_str() == "REPROVED";
                    assert_eq!(is_reproved, *cancelled, "{entry:?}");
                }
                Outcome::NotDone => assert!(operation.is_none(), "done after all: {entry:?}"),
                Outcome::Unknown => {}
            }
        }
        let asked: BTreeSet<_> = self.entries.iter().map(|entry| &entry.number).collect();
        let unasked = self
            .operations
            .keys()
            .find(|number| !asked.contains(number));
        assert_eq!(unasked, None, "nobody asked for it");
    }

    fn every_event_arrived_as_it_is_stored(&self) {
        for (id, Stored { body, .. }) in &self.deliveries {
            let event = self.received.get(id);
            let event = event.unwrap_or_else(|| panic!("never arrived: {body}"));
            assert_eq!(String::from_utf8_lossy(&event.body), *body);
        }
        let phantom = self
            .received
            .keys()
            .find(|id| !self.deliveries.contains_key(*id));
        assert_eq!(phantom, None, "an event that is not stored arrived");
    }

    fn no_attempts_overlap(&self) {
        let received = self.received.iter();
        let received = received.map(|(id, event)| (id, &event.arrivals[..]));
        nothing_overlaps(received, &retried(&self.deliveries));
    }

    fn every_operation_has_its_events(&self) {
        let mut kinds: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
        for event in self.received.values() {
            kinds.entry(event.operation).or_default().push(&event.kind);
        }
        for operation in self.operations.values() {
            let mut kinds = kinds.remove(&operation.id.get()).unwrap_or_default();
            kinds.sort_unstable();
            let expected: &[&str] = match operation.status.as_str() {
                "REPROVED" => &["pre_authorization.created", "pre_authorization.revoked"],
                _ => &["pre_authorization.created"],
            };
            assert_eq!(kinds, expected, "{operation:?}");
        }
        assert!(
            kinds.is_empty(),
            "of operations that do not exist: {kinds:?}"
        );
    }

    fn figures(&self, arrivals: usize) -> Figures {
        let count = |is: fn(&Outcome) -> bool| {
            let entries = self.entries.iter();
            entries.filter(|entry| is(&entry.outcome)).count()
        };
        Figures {
            acknowledged: count(|it| matches!(it, Outcome::Created { .. })),
            unknown: count(|it| *it == Outcome::Unknown),
            not_done: count(|it| *it == Outcome::NotDone),
            events: self.received.len(),
            duplicates: arrivals - self.received.len(),
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} acknowledged, {} of unknown outcome, {} not done; {} events received, {} of them again",
            self.acknowledged, self.unknown, self.not_done, self.events, self.duplicates
        )
    }
}
