//! Receivers with one fault each: every fault is named, and no other.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use preauth_core::value::Timestamp;
use preauth_server::clock::{Clock, SystemClock};
use serde_json::Value;
use webhook_verify::{Secret, Verifier};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate, matchers::any};

use super::super::listen::SECRET;
use super::{codes, objects, probe};

/// What a receiver does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    Nothing,
    LooksForAHeaderOnly,
    AcceptsWithoutHeader,
    KnowsNoTime,
    ReadsTheFirstSignatureOnly,
    ReprintsTheBody,
    KnowsOneTypeOnly,
    KnowsTheseFieldsOnly,
    IsLateWithLargeBodies,
    WorksAtEveryArrival,
    Redirects,
    TakesSmallBodiesOnly,
    FailsOnDuplicates,
    RefusesWhatIsOlder,
    RefusesEverything,
    /// Which is none: it confirms first.
    WorksLater,
}

/// How long one that works later takes: longer than a delivery, shorter than the count is waited for.
const LATER: Duration = Duration::from_millis(700);

/// A receiver that verifies, deduplicates and works, except for its mistake.
pub(super) struct Receiver {
    mistake: Mistake,
    /// A byte for each effect.
    effects: PathBuf,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    ids: Vec<String>,
    newest: i64,
}

impl Receiver {
    pub(super) async fn start(mistake: Mistake, effects: PathBuf) -> MockServer {
        std::fs::write(&effects, "").unwrap();
        let receiver = Self {
            mistake,
            effects,
            seen: Mutex::default(),
        };
        let server = MockServer::start().await;
        Mock::given(any())
            .respond_with(receiver)
            .mount(&server)
            .await;
        server
    }

    fn verifies(&self, header: Option<&str>, body: &[u8]) -> bool {
        let now = SystemClock.now().unix_seconds();
        let verifier = Verifier::new(Secret::parse(SECRET).unwrap());
        let genuine = |header: Option<&str>, body: &[u8], now| {
            verifier
                .verify(header.map(str::as_bytes), body, now)
                .is_ok()
        };
        match (self.mistake, header) {
            (Mistake::LooksForAHeaderOnly, header) => header.is_some(),
            (Mistake::AcceptsWithoutHeader, None) => true,
            (Mistake::KnowsNoTime, Some(text)) => {
                let time = text.split(',').next().unwrap();
                let time = time.trim_start_matches("t=").parse().unwrap();
                genuine(header, body, time)
            }
            (Mistake::ReadsTheFirstSignatureOnly, Some(text)) => {
                let first: Vec<_> = text.split(',').take(2).collect();
                genuine(Some(&first.join(",")), body, now)
            }
            (Mistake::ReprintsTheBody, header) => {
                let value: Value = serde_json::from_slice(body).unwrap();
                genuine(header, value.to_string().as_bytes(), now)
            }
            _ => genuine(header, body, now),
        }
    }

    fn status(&self, request: &Request) -> u16 {
        let header = request.headers.get("x-service-signature");
        let header = header.map(|value| value.to_str().unwrap());
        match self.mistake {
            Mistake::Redirects => return 307,
            Mistake::RefusesEverything => return 400,
            Mistake::TakesSmallBodiesOnly if request.body.len() > 64 * 1024 => return 413,
            _ => {}
        }
        if !self.verifies(header, &request.body) {
            return 400;
        }
        let event: Value = serde_json::from_slice(&request.body).unwrap();
        self.take(&event)
    }

    fn take(&self, event: &Value) -> u16 {
        let mut seen = self.seen.lock().unwrap();
        let id = event["id"].as_str().unwrap().to_owned();
        let at = Timestamp::parse(event["createdAt"].as_str().unwrap()).unwrap();
        let at = at.unix_seconds();
        let is_known = seen.ids.contains(&id);
        match self.mistake {
            Mistake::KnowsOneTypeOnly if event["type"] != "webhook.test" => return 422,
            Mistake::KnowsTheseFieldsOnly if event.get("fieldOfTomorrow").is_some() => return 422,
            Mistake::FailsOnDuplicates if is_known => return 500,
            Mistake::RefusesWhatIsOlder if at + 60 < seen.newest => return 409,
            _ => {}
        }
        if !is_known || self.mistake == Mistake::WorksAtEveryArrival {
            let effects = self.effects.clone();
            if self.mistake == Mistake::WorksLater {
                std::thread::spawn(move || {
                    std::thread::sleep(LATER);
                    work(&effects);
                });
            } else {
                work(&effects);
            }
        }
        seen.ids.push(id);
        seen.newest = seen.newest.max(at);
        204
    }
}

/// An effect: a byte more.
pub(super) fn work(effects: &Path) {
    let mut file = std::fs::File::options();
    let mut file = file.append(true).open(effects).unwrap();
    file.write_all(b"x").unwrap();
}

impl Respond for Receiver {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let status = self.status(request);
        let is_late =
            self.mistake == Mistake::IsLateWithLargeBodies && request.body.len() > 64 * 1024;
        let delay = Duration::from_secs(if is_late { 11 } else { 0 });
        ResponseTemplate::new(status)
            .insert_header("location", "http://127.0.0.1:1/elsewhere")
            .set_delay(delay)
    }
}

/// The faults found of a receiver with this mistake.
async fn faults(mistake: Mistake) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let effects = folder.path().join("effects");
    let receiver = Receiver::start(mistake, effects.clone()).await;
    faults_at(&receiver.uri(), &effects).await
}

/// The faults found of the receiver at `url`, which leaves its effects in a file.
pub(super) async fn faults_at(url: &str, effects: &Path) -> Vec<String> {
    let count = format!("wc -c < {}", effects.display());
    let output = probe(&[url, "--json", "--count-command", &count]).await;
    let objects = objects(&output);
    let faults = codes(&objects, "fault");
    let expected = i32::from(!faults.is_empty());
    assert_eq!(output.status.code(), Some(expected), "{output:?}");
    assert_eq!(objects.last().unwrap()["totals"]["faults"], faults.len());
    for found in objects.iter().filter(|it| it["result"] == "fault") {
        let see = found["see"].as_str().unwrap();
        assert!(see.ends_with(found["code"].as_str().unwrap()), "{found}");
        assert!(!found["next"].as_str().unwrap().is_empty(), "{found}");
    }
    faults
}

macro_rules! receivers {
    ($($name:ident: $mistake:ident => [$($fault:literal),*];)+) => {$(
        #[tokio::test]
        async fn $name() {
            let expected: &[&str] = &[$($fault),*];
            assert_eq!(faults(Mistake::$mistake).await, expected);
        }
    )+};
}

receivers! {
    a_good_receiver_has_no_fault: Nothing => [];
    an_unverified_signature_is_found: LooksForAHeaderOnly
        => ["accepts-old", "accepts-future", "accepts-forged", "accepts-forged"];
    a_missing_signature_that_is_accepted_is_found: AcceptsWithoutHeader => ["accepts-unsigned"];
    a_receiver_without_a_clock_is_found: KnowsNoTime => ["accepts-old", "accepts-future"];
    a_receiver_that_bears_no_rotation_is_found: ReadsTheFirstSignatureOnly
        => ["reads-one-signature"];
    a_receiver_that_verifies_a_reprint_is_found: ReprintsTheBody => ["reprints-body"];
    a_receiver_without_unknown_types_is_found: KnowsOneTypeOnly => ["refuses-unknown-type"];
    a_receiver_without_unknown_fields_is_found: KnowsTheseFieldsOnly => ["refuses-unknown-field"];
    a_late_answer_is_found: IsLateWithLargeBodies => ["answers-late"];
    work_done_twice_is_found_by_the_count: WorksAtEveryArrival => ["works-twice", "works-twice"];
    a_receiver_that_works_later_has_no_fault: WorksLater => [];
    a_redirect_is_found_and_not_followed: Redirects => ["redirects"];
    a_low_limit_of_bodies_is_found: TakesSmallBodiesOnly => ["refuses-large"];
    a_failure_on_duplicates_is_found: FailsOnDuplicates
        => ["refuses-duplicate", "refuses-duplicate"];
    a_refused_older_event_is_found: RefusesWhatIsOlder => ["refuses-older"];
    a_receiver_that_refuses_everything_is_tried_no_further: RefusesEverything
        => ["refuses-genuine"];
}
