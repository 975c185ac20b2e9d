//! Deliveries and mails that arrive, fail and are sent again.

use std::num::NonZeroU32;

use chrono::TimeDelta;
use preauth_core::port::{Attempt, AttemptError, Claim, Leased, Verdict};
use preauth_server::mail::{Claimed, DailyShare, MailClaim, MailLimits, Outcome};

use super::World;

impl World {
    async fn claimed(&self) -> Vec<Leased> {
        let claim = Claim {
            now: self.now,
            lease: TimeDelta::seconds(30),
            limit: 100,
            slow_limit: 100,
            per_endpoint: NonZeroU32::new(100).unwrap(),
            per_slow_endpoint: NonZeroU32::new(100).unwrap(),
            answering: Vec::new(),
            per_answering_endpoint: NonZeroU32::new(100).unwrap(),
        };
        self.stores.outbox.claim(&claim).await.unwrap().leased
    }

    pub(super) async fn deliver_all(&self) {
        loop {
            let leased = self.claimed().await;
            if leased.is_empty() {
                return;
            }
            for leased in leased {
                self.finish(&leased, Some(204), Verdict::Delivered).await;
            }
        }
    }

    async fn finish(&self, leased: &Leased, http_status: Option<u16>, verdict: Verdict) {
        let attempt = Attempt {
            at: self.now,
            duration: TimeDelta::zero(),
            http_status,
            error: (verdict != Verdict::Delivered).then_some(AttemptError::Connection),
            response_body: Vec::new(),
        };
        let finished = self.stores.outbox.finish(leased, &attempt, verdict).await;
        assert!(finished.unwrap());
    }

    /// Of the mails of the open offers, one is sent and the other fails.
    pub(super) async fn send_mails(&self) {
        let queue = &*self.stores.mails;
        let at = self.now;
        let claim = MailClaim {
            now: at,
            lease: TimeDelta::minutes(2),
            limit: 1,
            share: DailyShare::on_the_day_of(at, MailLimits::default()),
        };
        let error = "no such user".to_owned();
        let mut outcomes = [Outcome::Failed { at, error }, Outcome::Sent { at }].into_iter();
        while let Some(claimed) = queue.claim(&claim).await.unwrap().pop() {
            match claimed {
                Claimed::PutOff | Claimed::Canceled { .. } => {}
                Claimed::Leased(leased) => {
                    let outcome = outcomes.next().unwrap();
                    assert!(queue.finish(&leased, &outcome).await.unwrap());
                }
            }
        }
        assert_eq!(outcomes.len(), 0);
    }

    /// Of the two due deliveries, one fails for good, is resent, and fails again; the other is to
    /// be retried. The endpoint of the first is paused.
    pub(super) async fn fail_some(&self) {
        let pause_endpoint = false;
        let again = Verdict::RetryAt {
            at: self.now,
            pause_endpoint,
        };
        let [first, second] = self.claimed().await.try_into().unwrap();
        self.finish(&second, None, again).await;
        self.finish(&first, None, again).await;
        for attempt in 2..=11 {
            let claimed = self.claimed().await;
            for leased in claimed {
                if leased.delivery != first.delivery {
                    self.stores.outbox.release(&leased).await.unwrap();
                } else if attempt < 11 {
                    self.finish(&leased, None, again).await;
                } else {
                    let failed = Verdict::Failed { pause_endpoint };
                    self.finish(&leased, None, failed).await;
                }
            }
        }
        let directory = &self.stores.directory;
        directory.resend(first.delivery, self.now).await.unwrap();
        for leased in self.claimed().await {
            if leased.delivery == first.delivery {
                let paused = Verdict::RetryAt {
                    at: self.now,
                    pause_endpoint: true,
                };
                self.finish(&leased, None, paused).await;
            } else {
                self.stores.outbox.release(&leased).await.unwrap();
            }
        }
    }
}
