//! The planted defects of the write side; without one, the host in memory as it is.

use std::collections::BTreeSet;

use preauth_core::operation::Operation;
use preauth_core::port::{
    Commit, CommitError, Filter, LoadedOffer, LoadedOperation, OfferTarget, PageRequest, Queries,
    Render, Store, Unavailable, Viewer, Write,
};
use preauth_core::value::{EventType, InvoiceNumber, OperationId};
use preauth_server::http::WireRender;

use crate::defect::Defect;

use super::Database;

/// Between an invoice's number and what keeps it apart from itself.
const DISGUISE: char = '~';

impl Database {
    pub(super) async fn load_offer(
        &self,
        target: &OfferTarget,
    ) -> Result<Option<LoadedOffer>, Unavailable> {
        let mut loaded = self.memory.load_offer(target).await?;
        if let Some(loaded) = &mut loaded {
            if self.has(Defect::ReplayRenderedAnew)
                && let Some(reply) = &mut loaded.reply
                && let Some(now) = self.memory.find(Viewer::Platform, reply.operation).await?
            {
                reply.body = WireRender.reply(&now);
            }
            if self.has(Defect::DuplicateUnconstrained) {
                loaded.context.holder = self.looked_up(target.invoice_number.as_ref()).await?;
            }
        }
        Ok(loaded)
    }

    pub(crate) async fn load_operation(
        &self,
        id: OperationId,
    ) -> Result<Option<LoadedOperation>, Unavailable> {
        let mut loaded = self.memory.load_operation(id).await?;
        if let Some(loaded) = &mut loaded
            && self.has(Defect::DuplicateUnconstrained)
        {
            loaded.operation = undisguised(loaded.operation.clone());
            let holder = self.looked_up(loaded.operation.invoice.number.as_ref());
            loaded.holder = holder.await?.filter(|holder| holder.id != id);
        }
        Ok(loaded)
    }

    /// The holder of an invoice as a query without an index behind it finds it.
    async fn looked_up(
        &self,
        number: Option<&InvoiceNumber>,
    ) -> Result<Option<Operation>, Unavailable> {
        let everything = PageRequest {
            page: 1,
            limit: 100,
        };
        let page = self
            .memory
            .list(Viewer::Platform, &Filter::default(), everything)
            .await?;
        let mut operations = page.operations.into_iter().map(undisguised);
        Ok(operations.find(|operation| {
            operation.status().is_in_progress() && operation.invoice.number.as_ref() == number
        }))
    }

    pub(super) async fn write(&self, mut commit: Commit) -> Result<(), CommitError> {
        if self.has(Defect::ReplyNotStored) {
            commit.reply = None;
        }
        if self.has(Defect::DeliveryLeftOut) && self.faults.draw(|random| random.chance(100)) {
            commit.deliveries.pop();
        }
        if self.has(Defect::DuplicateUnconstrained) {
            disguise(&mut commit.write);
        }
        let overwrites = match commit.event.event_type {
            EventType::PreAuthorizationRevoked => self.has(Defect::CancelOverwrites),
            EventType::PreAuthorizationExpired => self.has(Defect::ExpiryOverwrites),
            _ => false,
        };
        if overwrites {
            self.forget_version(&mut commit.write).await?;
        }
        self.memory.commit(commit).await
    }

    /// Makes a write the next version of whatever is stored.
    async fn forget_version(&self, write: &mut Write) -> Result<(), CommitError> {
        if let Write::Operation { operation, .. } = write {
            let stored = self.memory.find(Viewer::Platform, operation.id).await;
            let stored = stored.map_err(|error| CommitError::NotDone(error.cause))?;
            if let Some(stored) = stored {
                operation.version = stored.version.next();
            }
        }
        Ok(())
    }

    /// The defect that does not wait for a commit's outcome.
    pub(super) fn send_too_early(&self, commit: &Commit) {
        if !self.has(Defect::SentBeforeCommit) {
            return;
        }
        let endpoints: BTreeSet<_> = commit.deliveries.iter().map(|it| it.endpoint).collect();
        for endpoint in endpoints {
            self.receivers.take(endpoint, &commit.event);
        }
    }
}

/// Keeps an invoice's number apart from itself, so that no index finds it held.
fn disguise(write: &mut Write) {
    if let Write::NewOperation(operation) | Write::Operation { operation, .. } = write
        && let Some(number) = &operation.invoice.number
    {
        let disguised = format!("{number}{DISGUISE}{}", operation.id);
        operation.invoice.number = InvoiceNumber::parse(&disguised).ok();
    }
}

pub(super) fn undisguised(mut operation: Operation) -> Operation {
    let number = operation.invoice.number.as_ref();
    if let Some((plain, _)) = number.and_then(|number| number.as_str().split_once(DISGUISE)) {
        operation.invoice.number = InvoiceNumber::parse(plain).ok();
    }
    operation
}
