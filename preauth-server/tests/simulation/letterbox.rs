//! The knowledge of the endpoints' owners: their secrets and addresses, former ones included.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::value::{EndpointId, Timestamp};
use preauth_server::dispatcher::Request;
use tokio::time::Instant;
use webhook_verify::{SIGNATURE_HEADER, Secret, Verifier};

/// How long a delivery leased before a change may still be sent after it.
const ON_ITS_WAY: Duration = Duration::from_secs(2);

/// The secrets and the address of each endpoint.
#[derive(Debug, Default)]
pub(crate) struct Letterboxes(Mutex<BTreeMap<EndpointId, Letterbox>>);

#[derive(Debug)]
struct Letterbox {
    url: String,
    /// The newest is last.
    secrets: Vec<Known>,
    changed: Option<Instant>,
}

#[derive(Debug)]
struct Known {
    secret: String,
    /// When it ends, if it does.
    until: Option<Timestamp>,
}

impl Letterboxes {
    pub(crate) fn add(&self, endpoint: EndpointId, url: &str, secret: &str) {
        let known = Known {
            secret: secret.to_owned(),
            until: None,
        };
        let letterbox = Letterbox {
            url: url.to_owned(),
            secrets: vec![known],
            changed: None,
        };
        self.0.lock().unwrap().insert(endpoint, letterbox);
    }

    /// The others stay valid until `others_until`, unless they end before.
    pub(crate) fn rotate(&self, endpoint: EndpointId, secret: &str, others_until: Timestamp) {
        self.change(endpoint, |letterbox| {
            for known in &mut letterbox.secrets {
                let until = known.until.unwrap_or(others_until);
                known.until = Some(until.min(others_until));
            }
            let secret = secret.to_owned();
            letterbox.secrets.push(Known {
                secret,
                until: None,
            });
        });
    }

    pub(crate) fn move_to(&self, endpoint: EndpointId, url: &str) {
        self.change(endpoint, |letterbox| url.clone_into(&mut letterbox.url));
    }

    /// The clock has jumped: deliveries leased before may use what was valid then.
    pub(crate) fn jump(&self) {
        let mut all = self.0.lock().unwrap();
        for letterbox in all.values_mut() {
            letterbox.changed = Some(Instant::now());
        }
    }

    /// The defects of a request sent at `now`.
    pub(crate) fn objection(
        &self,
        endpoint: EndpointId,
        request: &Request,
        now: Timestamp,
    ) -> Option<String> {
        let all = self.0.lock().unwrap();
        let letterbox = &all[&endpoint];
        let header = request.headers.iter().find(|it| it.0 == SIGNATURE_HEADER);
        let signature = header.map(|(_, value)| value.as_str()).unwrap_or_default();
        let verifies = |known: &&Known| {
            let verifier = Verifier::new(Secret::parse(&known.secret).unwrap());
            let body = request.body.as_bytes();
            verifier
                .verify(Some(signature.as_bytes()), body, now.unix_seconds())
                .is_ok()
        };
        let is_changing = letterbox
            .changed
            .is_some_and(|changed| changed.elapsed() < ON_ITS_WAY);
        if is_changing {
            let is_known = letterbox.secrets.iter().any(|known| verifies(&known));
            return (!is_known).then(|| "signed with no secret of the endpoint".to_owned());
        }
        if request.url != letterbox.url {
            return Some(format!("sent to {}, which is not its address", request.url));
        }
        let lately = TimeDelta::from_std(ON_ITS_WAY).unwrap();
        for (number, known) in (1..).zip(&letterbox.secrets) {
            let is_in_force = known.until.is_none_or(|until| now < until);
            let was_just_now = known
                .until
                .is_some_and(|until| now < until.saturating_add(lately));
            if is_in_force && !verifies(&known) {
                return Some(format!(
                    "not signed with secret {number}, which is in force"
                ));
            }
            if !is_in_force && !was_just_now && verifies(&known) {
                return Some(format!("signed with secret {number}, which has ended"));
            }
        }
        None
    }

    fn change(&self, endpoint: EndpointId, change: impl FnOnce(&mut Letterbox)) {
        let mut all = self.0.lock().unwrap();
        let letterbox = all.get_mut(&endpoint).unwrap();
        change(letterbox);
        letterbox.changed = Some(Instant::now());
    }
}
