//! The host in memory: every call completes at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use preauth_core::memory::MemoryStore;
use preauth_core::port::{PlatformReply, Unavailable};
use preauth_core::value::{Cnpj, DeliveryId, EndpointId, ExtensionId, IdempotencyKey, Timestamp};
use preauth_server::directory::{Company, DirectoryError, SealedSecret};

use super::register::Register;
use super::{Desk, Ground, NewRecord};

/// Operations, and the directory, which the host does not have.
pub(super) struct Host {
    pub(super) store: Arc<MemoryStore>,
    pub(super) register: Arc<Register>,
}

#[async_trait]
impl Desk for Host {
    async fn pause(&self, endpoint: EndpointId, _at: Timestamp) {
        self.store.pause_endpoint(endpoint);
    }

    async fn resume(&self, endpoint: EndpointId, _at: Timestamp) {
        self.store.resume_endpoint(endpoint);
    }

    async fn resend(&self, delivery: DeliveryId, at: Timestamp) -> bool {
        self.store.resend(delivery, at)
    }

    async fn rotate(
        &self,
        endpoint: EndpointId,
        sealed: SealedSecret,
        _at: Timestamp,
        others_until: Timestamp,
    ) {
        self.store.rotate_secret(endpoint, sealed.0, others_until);
    }

    async fn move_to(&self, endpoint: EndpointId, url: String) {
        self.store.move_endpoint(endpoint, url);
    }

    async fn reserve_extension(&self) -> ExtensionId {
        self.store.reserve_extension_id().unwrap()
    }

    fn promoted(&self, skipped: i64) -> Option<Ground> {
        let promoted = Arc::new(self.store.promoted(skipped));
        Some(Ground::in_memory(promoted, Arc::clone(&self.register)))
    }

    async fn advance_leases(&self, _by: TimeDelta) {
        // Its clock is the simulation's, which has already jumped.
    }

    async fn register(&self, new: NewRecord) -> Result<(), DirectoryError> {
        self.register.add(new)
    }

    async fn company_by_cnpj(&self, cnpj: &Cnpj) -> Result<Option<Company>, Unavailable> {
        Ok(self.register.by_cnpj(cnpj))
    }

    async fn registered(&self) -> BTreeSet<String> {
        self.register.ids()
    }

    fn reply(&self, key: &IdempotencyKey) -> Option<PlatformReply> {
        self.register.reply(key)
    }
}
