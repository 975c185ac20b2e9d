//! One attempt: sign, send, check, record, and log one line.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::delivery::{SLOW_ATTEMPT, endpoint_is_lost, retry_at};
use preauth_core::port::{Attempt, AttemptError, Leased, Outbox, Verdict};
use preauth_core::value::Timestamp;
use tokio::time::Instant;

use crate::clock::{Clock, Stopwatch};
use crate::ids::jitter;
use crate::log::chain;
use crate::secret::Vault;
use crate::worker::{Shutdown, retry_briefly};

use super::sender::{Answer, Sender};
use super::signing::signed_request;
use super::slots::{Slot, Slots};

/// Attempts single deliveries.
#[derive(Clone)]
pub(super) struct Courier {
    pub(super) outbox: Arc<dyn Outbox>,
    pub(super) sender: Arc<dyn Sender>,
    pub(super) vault: Vault,
    pub(super) clock: Arc<dyn Clock>,
    /// The receivers' time, for signatures and for dates in their answers.
    pub(super) receivers_clock: Arc<dyn Clock>,
    /// Maximum duration of an attempt.
    pub(super) patience: Duration,
    /// Counts the attempts in progress.
    pub(super) slots: Slots,
}

impl Courier {
    /// Whether a lease that began after `since` leaves an attempt its time: a slow commit may leave less.
    pub(super) fn has_time(&self, lease: TimeDelta, since: Instant) -> bool {
        let lease = lease.to_std().unwrap_or_default();
        lease.saturating_sub(since.elapsed()) >= self.patience
    }

    /// Attempts a delivery once and records the outcome. If the attempt is abandoned before the
    /// answer arrives, its lease is returned instead.
    pub(super) async fn deliver(&self, leased: Leased, mut slot: Slot, mut abandoned: Shutdown) {
        let at = self.clock.now();
        let stopwatch = Stopwatch::start();
        let exchange = tokio::select! {
            biased;
            exchange = self.paced_exchange(&leased, &mut slot) => exchange,
            () = abandoned.requested() => return self.release(&leased).await,
        };
        slot.note_end();
        let duration = stopwatch.elapsed();
        let asked = self.asked_delay_seconds(&exchange);
        let (attempt, verdict) = evaluate(&leased, exchange, asked, at, self.clock.now());
        let attempt = Attempt {
            duration,
            ..attempt
        };
        let recorded = self.record(&leased, &attempt, verdict).await;
        log(&leased, &attempt, verdict, recorded);
    }

    /// Marks the slot as slow when the exchange takes long.
    async fn paced_exchange(
        &self,
        leased: &Leased,
        slot: &mut Slot,
    ) -> Result<Answer, AttemptError> {
        let mut exchange = pin!(self.exchange(leased));
        let quick = SLOW_ATTEMPT.to_std().unwrap_or_default();
        if let Ok(ended) = tokio::time::timeout(quick, exchange.as_mut()).await {
            return ended;
        }
        slot.turn_slow();
        exchange.await
    }

    async fn exchange(&self, leased: &Leased) -> Result<Answer, AttemptError> {
        let now = self.receivers_clock.now();
        let request = signed_request(leased, &self.vault, now).map_err(|error| {
            let (endpoint, error) = (leased.endpoint, chain(&error));
            tracing::error!(target: "dispatcher", %endpoint, error, "cannot sign");
            AttemptError::Secret
        })?;
        let exchange = tokio::time::timeout(self.patience, self.sender.send(request)).await;
        exchange.unwrap_or(Err(AttemptError::TimedOut))
    }

    /// The delay in the receiver's `Retry-After`.
    fn asked_delay_seconds(&self, exchange: &Result<Answer, AttemptError>) -> Option<u32> {
        let answer = exchange.as_ref().ok()?;
        answer.asked_delay_seconds(self.receivers_clock.now())
    }

    async fn record(&self, leased: &Leased, attempt: &Attempt, verdict: Verdict) -> Recorded {
        match retry_briefly(|| self.outbox.finish(leased, attempt, verdict)).await {
            Some(true) => Recorded::Yes,
            Some(false) => Recorded::LeaseLost,
            None => Recorded::No,
        }
    }

    pub(super) async fn release(&self, leased: &Leased) {
        if let Err(error) = self.outbox.release(leased).await {
            let (delivery, error) = (leased.delivery, chain(&error));
            // The delivery will be due again when its lease expires.
            tracing::warn!(target: "dispatcher", %delivery, error, "lease not returned");
        }
    }
}

/// The verdict on a delivery whose exchange began at `at` and ended at `now`.
fn evaluate(
    leased: &Leased,
    exchange: Result<Answer, AttemptError>,
    asked: Option<u32>,
    at: Timestamp,
    now: Timestamp,
) -> (Attempt, Verdict) {
    let (http_status, error, response_body) = match exchange {
        Ok(answer) if answer.confirms() => (Some(answer.status), None, answer.body),
        Ok(answer) => (Some(answer.status), Some(AttemptError::Status), answer.body),
        Err(error) => (None, Some(error), Vec::new()),
    };
    let verdict = if error.is_none() {
        Verdict::Delivered
    } else {
        let made = leased.attempts_made.saturating_add(1);
        let pause_endpoint = endpoint_is_lost(leased.endpoint_healthy_at, at);
        match retry_at(
            made,
            jitter(leased.delivery.as_uuid(), leased.attempts_made),
            asked,
            now,
        ) {
            Some(at) => Verdict::RetryAt { at, pause_endpoint },
            None => Verdict::Failed { pause_endpoint },
        }
    };
    let attempt = Attempt {
        at,
        duration: now.since(at),
        http_status,
        error,
        response_body,
    };
    (attempt, verdict)
}

/// Whether the outbox recorded an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recorded {
    Yes,
    /// Another process holds the delivery by now, or it was deleted.
    LeaseLost,
    /// The database was unavailable: the delivery is attempted again when the lease expires.
    No,
}

/// The result of an attempt, as logged.
struct Completed(Verdict, Recorded);

impl fmt::Display for Completed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(verdict, recorded) = self;
        let pauses = match verdict {
            Verdict::Delivered => {
                f.write_str("delivered")?;
                false
            }
            Verdict::RetryAt { at, pause_endpoint } => {
                write!(f, "retry at {at}")?;
                *pause_endpoint
            }
            Verdict::Failed { pause_endpoint } => {
                f.write_str("failed")?;
                *pause_endpoint
            }
        };
        if pauses {
            f.write_str(", endpoint paused")?;
        }
        match recorded {
            Recorded::Yes => Ok(()),
            Recorded::LeaseLost => f.write_str(", not recorded: lease lost"),
            Recorded::No => f.write_str(", not recorded: database lost"),
        }
    }
}

fn log(leased: &Leased, attempt: &Attempt, verdict: Verdict, recorded: Recorded) {
    /// The level is part of a line's place in the code, so each level has its own.
    macro_rules! line {
        ($level:ident) => {
            tracing::$level!(
                target: "delivery",
                delivery = %leased.delivery,
                event = %leased.event,
                event_type = leased.event_type,
                endpoint = %leased.endpoint,
                attempt = leased.attempts_made.saturating_add(1),
                status = attempt.http_status,
                // An answer's status is enough; only attempts without one have an error.
                error = attempt
                    .error
                    .filter(|_| attempt.http_status.is_none())
                    .map(tracing::field::display),
                duration_ms = attempt.duration.num_milliseconds(),
                verdict = %Completed(verdict, recorded),
                "attempted"
            )
        };
    }
    match verdict {
        Verdict::Delivered => line!(info),
        Verdict::RetryAt { .. } | Verdict::Failed { .. } => line!(warn),
    }
}
