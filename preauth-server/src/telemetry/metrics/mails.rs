//! Counts mails, as a decorator of the queue that records their attempts.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use prometheus::{IntCounter, IntCounterVec, IntGauge};

use crate::live::Live;
use crate::mail::{Cancellation, Claimed, LeasedMail, MailClaim, MailLimits, MailQueue, Outcome};

use super::family::Families;

const OUTCOMES: [&str; 4] = ["sent", "retried", "given_up", "lease_lost"];

/// Counts attempts to send mails, and their consequences.
#[derive(Clone, Debug)]
pub struct MailMetrics {
    attempts: IntCounterVec,
    new_mailboxes: IntGauge,
    suppressed: IntCounter,
}

impl MailMetrics {
    pub(super) fn new(families: &Families<'_>) -> Self {
        let attempts = families.counters(
            "preauth_notice_attempts_total",
            "Attempts to hand mails over, by what follows: sent, retried later, given up, or not \
             recorded because the lease was lost.",
            &["outcome"],
        );
        for outcome in OUTCOMES {
            let _ = attempts.with_label_values(&[outcome]);
        }
        let new_mailboxes = families.whole(
            "preauth_mail_new_addresses",
            "Addresses that the head office of the latest mail to a new one has reached today for the \
             first time.",
        );
        let suppressed = families.counter(
            "preauth_mails_suppressed_total",
            "Mails that were not sent, because the reader of their address wants none.",
        );
        Self {
            attempts,
            new_mailboxes,
            suppressed,
        }
    }

    fn note(&self, outcome: &Outcome, is_recorded: bool) {
        let outcome = match outcome {
            _ if !is_recorded => "lease_lost",
            Outcome::Sent { .. } => "sent",
            Outcome::RetryAt { .. } => "retried",
            Outcome::Failed { .. } => "given_up",
        };
        self.attempts.with_label_values(&[outcome]).inc();
    }
}

/// A queue whose finished attempts are counted.
pub struct CountedMails {
    inner: Arc<dyn MailQueue>,
    metrics: MailMetrics,
}

impl CountedMails {
    /// Counts the finished attempts of `inner`.
    #[must_use]
    pub fn new(inner: Arc<dyn MailQueue>, metrics: MailMetrics) -> Self {
        Self { inner, metrics }
    }
}

#[async_trait]
impl MailQueue for CountedMails {
    async fn claim(&self, claim: &MailClaim) -> Result<Vec<Claimed>, Unavailable> {
        let claimed = self.inner.claim(claim).await?;
        for mail in &claimed {
            match mail {
                Claimed::Leased(leased) => {
                    if let Some(reached) = leased.new_mailboxes {
                        let reached = i64::try_from(reached).unwrap_or(i64::MAX);
                        self.metrics.new_mailboxes.set(reached);
                    }
                }
                Claimed::Canceled {
                    reason: Cancellation::AddressSuppressed,
                    ..
                } => self.metrics.suppressed.inc(),
                Claimed::Canceled { .. } | Claimed::PutOff => {}
            }
        }
        Ok(claimed)
    }

    /// An attempt that could not be recorded is not counted: it is recorded later, or repeated.
    async fn finish(&self, leased: &LeasedMail, outcome: &Outcome) -> Result<bool, Unavailable> {
        let is_recorded = self.inner.finish(leased, outcome).await?;
        self.metrics.note(outcome, is_recorded);
        Ok(is_recorded)
    }

    async fn release(&self, leased: &LeasedMail) -> Result<(), Unavailable> {
        self.inner.release(leased).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        self.inner.next_due().await
    }

    fn follow(&self, limits: &Live<MailLimits>) {
        self.inner.follow(limits);
    }
}

impl fmt::Debug for CountedMails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountedMails").finish_non_exhaustive()
    }
}
