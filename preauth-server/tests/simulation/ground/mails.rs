//! The mails of a real database under simulated time.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;
use preauth_server::live::Live;
use preauth_server::mail::{Claimed, LeasedMail, MailClaim, MailLimits, MailQueue, Outcome};

use super::real::in_real_time;

/// A queue whose calls take no simulated time.
pub(super) struct MailsInRealTime(pub(super) Arc<dyn MailQueue>);

#[async_trait]
impl MailQueue for MailsInRealTime {
    async fn claim(&self, claim: &MailClaim) -> Result<Vec<Claimed>, Unavailable> {
        in_real_time(self.0.claim(claim)).await
    }

    async fn finish(&self, leased: &LeasedMail, outcome: &Outcome) -> Result<bool, Unavailable> {
        in_real_time(self.0.finish(leased, outcome)).await
    }

    async fn release(&self, leased: &LeasedMail) -> Result<(), Unavailable> {
        in_real_time(self.0.release(leased)).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, Unavailable> {
        in_real_time(self.0.next_due()).await
    }

    fn follow(&self, limits: &Live<MailLimits>) {
        self.0.follow(limits);
    }
}
