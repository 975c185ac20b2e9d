//! The host in memory: every call completes at once.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::memory::MemoryStore;
use preauth_core::value::{DeliveryId, EndpointId, ExtensionId, Timestamp};
use preauth_server::directory::SealedSecret;

use super::{Desk, Ground};

#[async_trait]
impl Desk for MemoryStore {
    async fn pause(&self, endpoint: EndpointId, _at: Timestamp) {
        self.pause_endpoint(endpoint);
    }

    async fn resume(&self, endpoint: EndpointId, _at: Timestamp) {
        self.resume_endpoint(endpoint);
    }

    async fn resend(&self, delivery: DeliveryId, at: Timestamp) -> bool {
        Self::resend(self, delivery, at)
    }

    async fn rotate(
        &self,
        endpoint: EndpointId,
        sealed: SealedSecret,
        _at: Timestamp,
        others_until: Timestamp,
    ) {
        self.rotate_secret(endpoint, sealed.0, others_until);
    }

    async fn move_to(&self, endpoint: EndpointId, url: String) {
        self.move_endpoint(endpoint, url);
    }

    async fn reserve_extension(&self) -> ExtensionId {
        self.reserve_extension_id().unwrap()
    }

    fn promoted(&self, skipped: i64) -> Option<Ground> {
        Some(Ground::in_memory(Arc::new(Self::promoted(self, skipped))))
    }

    async fn advance_leases(&self, _by: TimeDelta) {
        // Its clock is the simulation's, which has already jumped.
    }
}
