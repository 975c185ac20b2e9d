//! The interface between a backend and the suite.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;

use crate::memory::{Company, DeliveryRecord, Endpoint};
use crate::operation::{Credit, InvoiceFile};
use crate::port::{EventFeed, MailKind, Outbox, Queries, Store};
use crate::value::{Cnpj, CompanyId, CompanyName, Email, EndpointId, EventId, OperationId};

/// One of several things done at the same time.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A backend under test: its ports, and the changes that the platform makes beside them.
///
/// The suite only adds records with ids that come from [`Host::fresh`]. A method that cannot do its work
/// panics, which ends the case.
#[async_trait]
pub trait Host: Send + Sync {
    /// The write side under test.
    fn store(&self) -> Arc<dyn Store>;

    /// The dispatcher's side under test.
    fn outbox(&self) -> Arc<dyn Outbox>;

    /// The read side under test.
    fn queries(&self) -> Arc<dyn Queries>;

    /// The events on request. A host that numbers events after their commits does so before each answer: what was
    /// committed before the request is found.
    fn feed(&self) -> Arc<dyn EventFeed>;

    /// A number that was never used with this database. Every id and tax id of a case is derived from it,
    /// so that cases do not affect each other.
    fn fresh(&self) -> u32;

    /// Runs all of `tasks` to their end at the same time, on all available threads. Panics if a task
    /// panics.
    async fn join_all(&self, tasks: Vec<Task>);

    /// Registers a company; an invited supplier keeps its id. Its head office, if it has one, was
    /// registered before.
    async fn add_company(&self, company: Company);

    /// Corrects the name of a registered company.
    async fn rename_company(&self, id: CompanyId, name: CompanyName);

    /// Records the credit analysis of a head office, in place of an earlier one.
    async fn set_credit(&self, head_office: CompanyId, credit: Credit);

    /// Puts a supplier, registered or not, on the block list of a head office.
    async fn block_supplier(&self, head_office: CompanyId, supplier: Cnpj);

    /// Registers this address for mails about the endpoint of a head office.
    async fn add_reader(&self, head_office: CompanyId, email: Email);

    /// Registers an endpoint, active.
    async fn add_endpoint(&self, endpoint: Endpoint);

    /// Pauses an endpoint.
    async fn pause_endpoint(&self, id: EndpointId);

    /// Resumes an endpoint.
    async fn resume_endpoint(&self, id: EndpointId);

    /// Deletes an endpoint; its pending deliveries end as failed.
    async fn delete_endpoint(&self, id: EndpointId);

    /// The deliveries of an event, in any order, each with its attempts in the order in which they
    /// were finished. A delivery that waits because its endpoint is paused is pending here.
    async fn deliveries(&self, event: EventId) -> Vec<DeliveryRecord>;

    /// The mails staged to an address, in any order: their kind and content.
    async fn mails_to(&self, recipient: &Email) -> Vec<(MailKind, String)>;

    /// The description of the invoice file that came with an offer.
    async fn invoice_file(&self, operation: OperationId) -> Option<InvoiceFile>;

    /// Moves the clock by which leases expire forward by `by`. A backend whose clock cannot be moved
    /// brings the end of every lease forward instead.
    async fn advance_lease_clock(&self, by: TimeDelta);
}
