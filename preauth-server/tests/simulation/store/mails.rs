//! The mail sender's port.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use preauth_server::live::Live;
use preauth_server::mail::{Claimed, LeasedMail, MailClaim, MailLimits, MailQueue, Outcome};

use crate::defect::Defect;
use crate::faults::Call;
use crate::history::{Fact, MailFact};

use super::{Database, SimStore, outliving, unavailable};

/// The queue of mails as one instance reaches it; a host in memory has none.
pub(crate) struct SimMails {
    store: SimStore,
    queue: Arc<dyn MailQueue>,
    is_killed: Arc<AtomicBool>,
}

impl SimMails {
    pub(crate) fn of(store: &SimStore, is_killed: &Arc<AtomicBool>) -> Option<Self> {
        Some(Self {
            store: store.clone(),
            queue: store.ground().mails?,
            is_killed: Arc::clone(is_killed),
        })
    }

    /// A sender records outcomes and returns leases beside its loop, which ends with the instance.
    async fn end_if_killed(&self) {
        if self.is_killed.load(Ordering::Relaxed) {
            pending::<()>().await;
        }
    }
}

#[async_trait]
impl MailQueue for SimMails {
    async fn claim(&self, claim: &MailClaim) -> Result<Vec<Claimed>, Unavailable> {
        let (store, queue, claim) = (self.store.clone(), Arc::clone(&self.queue), *claim);
        let work = move |is_held| {
            outliving(async move {
                let database = &store.database;
                let asked_after = database.chronicle.read(<[_]>::len);
                let mut claimed = database.claim_mails(&*queue, claim).await?;
                if is_held {
                    leave_out_one(&*queue, &mut claimed).await?;
                }
                for it in &claimed {
                    let fact = match it {
                        Claimed::PutOff => continue,
                        Claimed::Canceled { .. } => MailFact::Canceled,
                        Claimed::Leased(leased) => MailFact::Leased {
                            instance: store.instance,
                            mail: leased.id,
                            token: leased.token,
                            joined: leased.joined.iter().map(|it| it.id).collect(),
                            now: claim.now,
                            asked_after,
                        },
                    };
                    database.chronicle.note(Fact::Mail(fact));
                }
                Ok(claimed)
            })
        };
        self.store.call_on_rows(Call::ClaimMails, work).await
    }

    async fn finish(&self, leased: &LeasedMail, outcome: &Outcome) -> Result<bool, Unavailable> {
        self.end_if_killed().await;
        let (store, queue) = (self.store.clone(), Arc::clone(&self.queue));
        let (leased, outcome) = (leased.clone(), outcome.clone());
        let work = move |is_held| {
            outliving(async move {
                let database = &store.database;
                if is_held && !store.waits_until_free(&database.outcomes, false).await {
                    return Err(unavailable());
                }
                let is_recorded = queue.finish(&leased, &outcome).await?;
                database.chronicle.note(Fact::Mail(MailFact::Finished {
                    mail: leased.id,
                    token: leased.token,
                    outcome,
                    is_recorded,
                }));
                Ok(is_recorded)
            })
        };
        self.store.call_on_rows(Call::FinishMail, work).await
    }

    async fn release(&self, leased: &LeasedMail) -> Result<(), Unavailable> {
        self.end_if_killed().await;
        let work = async {
            let (mail, token) = (leased.id, leased.token);
            // Recorded first, so that a concurrent claim is no violation.
            let released = Fact::Mail(MailFact::Released { mail, token });
            self.store.database.chronicle.note(released);
            self.queue.release(leased).await
        };
        self.store.call(Call::ReleaseMail, work).await
    }

    /// Has no fault: it changes nothing, and each idle lane repeats it every second.
    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        self.queue.next_due().await
    }

    fn follow(&self, limits: &Live<MailLimits>) {
        self.queue.follow(limits);
    }
}

/// Skips a mail whose row is locked.
async fn leave_out_one(
    queue: &dyn MailQueue,
    claimed: &mut Vec<Claimed>,
) -> Result<(), Unavailable> {
    let is_leased = |it: &Claimed| matches!(it, Claimed::Leased(_));
    if let Some(place) = claimed.iter().position(is_leased)
        && let Claimed::Leased(held) = claimed.remove(place)
    {
        queue.release(&held).await?;
    }
    Ok(())
}

impl Database {
    async fn claim_mails(
        &self,
        queue: &dyn MailQueue,
        mut claim: MailClaim,
    ) -> Result<Vec<Claimed>, Unavailable> {
        if self.has(Defect::EndlessMailLease) {
            claim.lease = TimeDelta::days(3650);
        }
        if self.has(Defect::MailLimitsIgnored) {
            claim.share.limits = MailLimits::default();
        }
        let mut claimed = queue.claim(&claim).await?;
        if self.has(Defect::ClosedOfferMailed) {
            let mut once_leased = self.mails.lock().unwrap();
            for it in &mut claimed {
                match it {
                    Claimed::Leased(leased) => {
                        once_leased.insert(leased.id, leased.clone());
                    }
                    Claimed::Canceled { id, .. } => {
                        let leased = once_leased.get(id).cloned();
                        *it = leased.map_or(Claimed::PutOff, Claimed::Leased);
                    }
                    Claimed::PutOff => {}
                }
            }
        }
        if self.has(Defect::MailSentWithoutLease) {
            for it in &claimed {
                if let Claimed::Leased(leased) = it {
                    queue.release(leased).await?;
                }
            }
        }
        Ok(claimed)
    }
}
