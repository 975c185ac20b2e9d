//! One attempt: sign, send, check, record, and one line in the log.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use preauth_core::delivery::{SLOW_ATTEMPT, endpoint_is_lost, retry_at};
use preauth_core::port::{Attempt, AttemptError, Leased, Outbox, Verdict};
use preauth_core::value::Timestamp;

use crate::clock::{Clock, Stopwatch};
use crate::ids::jitter;
use crate::log::chain;
use crate::secret::Vault;
use crate::worker::{Shutdown, retry_briefly};

use super::sender::{Answer, Sender};
use super::signing::signed_request;
use super::slots::{Slot, Slots};

/// Carries single deliveries.
#[derive(Clone)]
pub(super) struct Courier {
    pub(super) outbox: Arc<dyn Outbox>,
    pub(super) sender: Arc<dyn Sender>,
    pub(super) vault: Vault,
    pub(super) clock: Arc<dyn Clock>,
    /// What receivers' clocks show: the time of signatures and of dates in their answers.
    pub(super) receivers_clock: Arc<dyn Clock>,
    /// How long a sender is waited for.
    pub(super) patience: Duration,
    /// How many deliveries are being carried.
    pub(super) slots: Slots,
}

impl Courier {
    /// Attempts a delivery once and records the outcome. When it is abandoned before the answer is
    /// there, the lease is returned in place of that.
    pub(super) async fn deliver(&self, leased: Leased, mut slot: Slot, mut abandoned: Shutdown) {
        let at = self.clock.now();
        let stopwatch = Stopwatch::start();
        let exchange = tokio::select! {
            biased;
            exchange = self.paced_exchange(&leased, &mut slot) => exchange,
            () = abandoned.requested() => return self.release(&leased).await,
        };
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

    /// Lets the slot know when the exchange turns out to be slow.
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

    /// What the receiver asked for with `Retry-After`.
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

    async fn release(&self, leased: &Leased) {
        if let Err(error) = self.outbox.release(leased).await {
            let (delivery, error) = (leased.delivery, chain(&error));
            // It will be due again when its lease has run out.
            tracing::warn!(target: "dispatcher", %delivery, error, "lease not returned");
        }
    }
}

/// What an exchange that began at `at` and ended at `now` means for its delivery.
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

/// Whether the outbox took note of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recorded {
    Yes,
    /// Somebody else holds the delivery by now, or it is gone.
    LeaseLost,
    /// The database was not there: the delivery is attempted again when the lease has run out.
    No,
}

/// What follows from an attempt, as the log tells it.
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
                // With an answer its status says it all.
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
