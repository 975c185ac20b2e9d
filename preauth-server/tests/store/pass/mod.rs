//! One pass over everything that a store does, made of works that each find something; the tests of each database look at the
//! plans of their statements, and `literals` at whether a statement of the store is missing.

mod deliveries;
mod directory;
mod janitor;
mod lists;
pub(crate) mod literals;
mod mails;
mod operations;

use std::net::Ipv4Addr;
use std::sync::Arc;

use preauth_core::access::OperatorRole;
use preauth_core::operation::InvoiceFile;
use preauth_core::port::{ActingOperator, Audited, NewReply, PageRequest, ReplyScope};
use preauth_core::value::{
    ApiKeyId, CompanyId, EndpointId, Fingerprint, OperatorName, RequestId, UserId,
};
use preauth_server::access::KeyHash;
use preauth_server::audit_trail::AuditedRequest;
use preauth_server::store;

use crate::store::fixture::Fixture;

/// Records of one kind that a step may take.
const STEP: u32 = 2;
/// The pages that are read.
const PAGE: PageRequest = PageRequest { page: 1, limit: 8 };

/// A head office with a key, a user and an endpoint.
#[derive(Clone, Copy)]
pub(crate) struct Office {
    pub(crate) payer: CompanyId,
    user: UserId,
    pub(crate) key: ApiKeyId,
    pub(crate) hash: KeyHash,
    endpoint: EndpointId,
}

impl Office {
    pub(crate) async fn new(fixture: &Fixture) -> Self {
        let payer = fixture.payer().await;
        let user = fixture.user(payer);
        let directory = fixture.directory();
        directory.add_user(&user, None).await.unwrap();
        let (key, hash) = fixture.api_key(payer, user.id);
        directory.add_api_key(&key, &hash, None).await.unwrap();
        Self {
            payer,
            user: user.id,
            key: key.id,
            hash,
            endpoint: fixture.add_endpoint(payer).await.id,
        }
    }
}

/// One of everything but what the two functions below do.
pub(crate) async fn pass(fixture: &Fixture, office: Office) {
    let operation = operations::create(fixture, office).await;
    let mail = mails::send(fixture).await;
    deliveries::deliver(fixture).await;
    lists::of_company(fixture, office.payer, &operation).await;
    operations::live(fixture, office.payer).await;
    operations::order_and_invoice(fixture, office).await;
    operations::expire(fixture, office.payer).await;
    directory::companies(fixture, &operation).await;
    directory::staff(fixture, office).await;
    directory::operators(fixture).await;
    directory::suppressed(fixture, &operation).await;
    deliveries::resend(fixture, office.payer).await;
    mails::resend(fixture, office.payer, mail).await;
    mails::join(fixture, office.payer).await;
    mails::put_off(fixture, office.payer).await;
    deliveries::endpoint(fixture).await;
    janitor::watch(fixture, office.payer).await;
    janitor::number(fixture, office.payer).await;
    janitor::fail_and_recover(fixture).await;
    directory::erase(fixture, &operation).await;
    janitor::clean(fixture, office.payer).await;
}

/// The lists over all companies, whose plans have tests of their own.
pub(crate) async fn search(fixture: &Fixture) {
    lists::over_all_companies(fixture).await;
}

/// All pages of an audit, whose plans have a test of their own on PostgreSQL.
pub(crate) async fn audit(fixture: &Fixture) {
    let archive = store::archive(&fixture.database.url()).await.unwrap();
    let mut pages = archive.pages().await.unwrap();
    while !pages.next(100).await.unwrap().records.is_empty() {}
}

/// A request of an operator that names this record.
fn request(fixture: &Fixture, record: String) -> Arc<AuditedRequest> {
    let (operator, audited) = (operator(fixture), audited(record));
    Arc::new(AuditedRequest::new(fixture.now, operator, audited, None))
}

fn operator(fixture: &Fixture) -> ActingOperator {
    ActingOperator {
        id: None,
        name: OperatorName::root(),
        request: RequestId::new(fixture.uuid()),
        address: Ipv4Addr::LOCALHOST.into(),
    }
}

fn audited(record: String) -> Audited {
    Audited {
        role: OperatorRole::Admin,
        action: "cancelOperation",
        record,
    }
}

/// A platform's answer under a new key.
fn reply(fixture: &Fixture) -> NewReply {
    NewReply {
        scope: ReplyScope::Platform,
        key: fixture.uuid().to_string().parse().unwrap(),
        fingerprint: Fingerprint::from_bytes([7; 32]),
        body: "{}".to_owned(),
        retention: chrono::TimeDelta::days(30),
    }
}

/// A file of which nothing is stored but its name.
fn file(fixture: &Fixture) -> InvoiceFile {
    let id = fixture.uuid().into_bytes();
    InvoiceFile {
        name: "nota.pdf".to_owned(),
        media_type: "application/pdf".to_owned(),
        size: 1,
        sha256: [id, id].concat().try_into().unwrap(),
    }
}
