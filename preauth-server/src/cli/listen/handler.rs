//! Checks each delivery, decides on the answer, and prints it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use preauth_core::value::EventId;

use crate::clock::{Clock, SystemClock};
use crate::http::{Answer, Delivery, DeliveryHandler};

use super::failure_mode::FailureMode;
use super::report::{ReceivedDelivery, Report, SignatureCheck};
use super::secrets::Secrets;

/// Maximum number of events remembered; when it is reached, all are forgotten.
const REMEMBERED_EVENTS: usize = 10_000;

const ACCEPTED: u16 = 204;
const REFUSED: u16 = 400;
/// The sender retries, and a secret may exist then.
const CANNOT_VERIFY: u16 = 503;

/// The handler of `listen`.
#[derive(Debug)]
pub(super) struct ListenHandler {
    secrets: Secrets,
    failure_mode: FailureMode,
    report: Report,
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    deliveries: u64,
    /// The number of signed arrivals of each event.
    arrivals: HashMap<EventId, u64>,
}

impl ListenHandler {
    pub(super) fn new(secrets: Secrets, failure_mode: FailureMode, report: Report) -> Self {
        Self {
            secrets,
            failure_mode,
            report,
            counted: Mutex::default(),
        }
    }
}

impl DeliveryHandler for ListenHandler {
    fn handle(&self, signature: Option<&[u8]>, body: &[u8]) -> Answer {
        let at = SystemClock.now();
        let (check, event, due) = match self.secrets.verifier() {
            Ok(verifier) => {
                let delivery = Delivery::validate(&verifier, signature, body);
                match delivery.signed_at {
                    Ok(signed_at) => {
                        let age_seconds = at.unix_seconds().saturating_sub(signed_at);
                        (
                            SignatureCheck::Verified { age_seconds },
                            delivery.event,
                            ACCEPTED,
                        )
                    }
                    Err(error) => (SignatureCheck::Refused(error), delivery.event, REFUSED),
                }
            }
            Err(error) => (SignatureCheck::NoSecret(error), None, CANNOT_VERIFY),
        };
        // Held during printing, so that deliveries are printed in the order in which they are
        // counted.
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.deliveries = counted.deliveries.saturating_add(1);
        let is_genuine = matches!(check, SignatureCheck::Verified { .. });
        let genuine = event.as_ref().filter(|_| is_genuine);
        let arrival = genuine.map(|event| counted.arrives(event.id));
        let answer = self.failure_mode.answer(counted.deliveries, due);
        self.report.print_delivery(&ReceivedDelivery {
            at,
            check: &check,
            event: event.as_ref(),
            arrival,
            answer,
            body,
        });
        answer
    }
}

impl Counted {
    fn arrives(&mut self, event: EventId) -> u64 {
        if self.arrivals.len() >= REMEMBERED_EVENTS {
            self.arrivals.clear();
        }
        let count = self.arrivals.entry(event).or_default();
        *count = count.saturating_add(1);
        *count
    }
}
