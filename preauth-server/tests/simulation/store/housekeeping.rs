//! The janitor's port. A run is too short for retention; endpoints are settled by the ground itself.

use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::port::{Outbox, Unavailable};
use preauth_core::value::Timestamp;
use preauth_server::store::{Housekeeping, OldFiles};
use tokio::sync::Notify;

use super::SimStore;

#[async_trait]
impl Housekeeping for SimStore {
    async fn settle_endpoints(&self, _limit: u32) -> Result<u64, Unavailable> {
        Ok(0)
    }

    fn endpoints_unsettled(&self) -> Arc<Notify> {
        Arc::default()
    }

    async fn bring_forward(&self, now: Timestamp, limit: u32) -> Result<u64, Unavailable> {
        Outbox::bring_forward(self, now, limit).await
    }

    async fn notify_of_failing(&self, _: Timestamp, _: u32) -> Result<u64, Unavailable> {
        Ok(0)
    }

    async fn forget_expired_replies(&self, _: Timestamp, _: u32) -> Result<u64, Unavailable> {
        Ok(0)
    }

    async fn forget_rate_windows(
        &self,
        _now: Timestamp,
        _unused_since: Timestamp,
        _limit: u32,
    ) -> Result<u64, Unavailable> {
        Ok(0)
    }

    async fn forget_ended_deliveries(&self, _: Timestamp, _: u32) -> Result<u64, Unavailable> {
        Ok(0)
    }

    async fn forget_ended_mails(&self, _: Timestamp, _: u32) -> Result<u64, Unavailable> {
        Ok(0)
    }

    async fn forget_old_files(
        &self,
        _: Timestamp,
        _: Timestamp,
        _: i64,
        _: u32,
    ) -> Result<OldFiles, Unavailable> {
        Ok(OldFiles::default())
    }

    async fn forget_event_numbers(&self, _: Timestamp, _: u32) -> Result<u64, Unavailable> {
        Ok(0)
    }

    async fn sum_up_counts(&self, _limit: u32) -> Result<u64, Unavailable> {
        Ok(0)
    }
}
