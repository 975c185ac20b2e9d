//! One pass over the store, and the statements that it takes.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use chrono::TimeDelta;
use preauth_core::access::OperatorRole;
use preauth_core::operation::{Actor, Command, InvoiceFile, Operation};
use preauth_core::port::{ActingOperator, Audited, Claim};
use preauth_core::value::{CompanyId, OperatorName, RequestId, Timestamp};
use preauth_server::access::{KeyHash, RateLimit};
use preauth_server::audit_trail::AuditedRequest;
use preauth_server::directory::AuditOutcome;
use preauth_server::invoice_files::ContentHash;
use preauth_server::mail::Outcome;
use preauth_server::store;

use crate::filling::{copy, fill};
use crate::reads::read_once;
use crate::statements::Statements;
use crate::store::deliveries::deliver;
use crate::store::fixture::Fixture;
use crate::store::handovers::Everything;
use crate::store::mails::{claim as mail_claim, command_done, lease_by};

/// Statements with a plan.
const PLANNED: [&str; 5] = ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"];
/// Records of one kind that a step may take.
const STEP: u32 = 2;

/// A head office with a key, a user and an endpoint.
pub(crate) struct Scene {
    pub(crate) fixture: Fixture,
    payer: CompanyId,
    key: KeyHash,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        let fixture = Fixture::new().await;
        let payer = fixture.payer().await;
        let user = fixture.user(payer);
        fixture.directory().add_user(&user, None).await.unwrap();
        let (key, hash) = fixture.api_key(payer, user.id);
        let added = fixture.directory().add_api_key(&key, &hash, None);
        added.await.unwrap();
        fixture.add_endpoint(payer).await;
        Self {
            fixture,
            payer,
            key: hash,
        }
    }

    /// One of everything.
    async fn pass(&self) {
        let now = self.fixture.now;
        let operation = self.create().await;
        read_once(&self.fixture, self.payer, &operation).await;
        self.deliver(now).await;
        self.send_mail(now).await;
        command_done(&self.fixture, operation.id, &Command::Cancel).await;
        self.deliver(now).await;
        let late = self.fixture.later(TimeDelta::days(31));
        self.fixture.offer(self.payer).await;
        let expired = self.fixture.service.expire_overdue(late, STEP).await;
        assert!(expired.unwrap().failed.is_empty());
        self.seal(now).await;
        let archive = store::archive(&self.fixture.database.url()).await.unwrap();
        let mut pages = archive.pages().await.unwrap();
        while !pages.next(100).await.unwrap().records.is_empty() {}
        self.clean(late).await;
    }

    /// The statements of a pass, in the words of the store.
    pub(crate) async fn statements(&self, heard: &Statements) -> BTreeSet<String> {
        heard.take();
        self.pass().await;
        let is_planned = |it: &String| {
            let first = it.split_whitespace().next().unwrap_or_default();
            PLANNED.contains(&first.to_uppercase().as_str())
        };
        heard.take().into_iter().filter(is_planned).collect()
    }

    async fn create(&self) -> Operation {
        let (fixture, stores) = (&self.fixture, &self.fixture.stores);
        let limit = RateLimit {
            requests: 1_000_000,
            window_seconds: 60,
        };
        let entered = stores.access.authenticate(&self.key, limit, fixture.now);
        assert!(entered.await.unwrap().is_some());
        stores.files.named_bytes(self.payer).await.unwrap();
        let id = fixture.uuid().into_bytes();
        let content = ContentHash::from_bytes([id, id].concat().try_into().unwrap());
        let announced = stores.files.announce_file(content, fixture.now);
        assert!(announced.await.unwrap());
        let mut offer = fixture.new_offer(self.payer);
        offer.file = Some(InvoiceFile {
            name: "nota.pdf".to_owned(),
            media_type: "application/pdf".to_owned(),
            size: 1,
            sha256: *content.as_bytes(),
        });
        let operation = fixture.make(&offer).await;
        let service = fixture.service_handing_over_to(Everything::default().intake());
        let again = service.offer(&offer, Actor::Company, None, fixture.now);
        again.await.unwrap_err();
        let other = fixture.new_offer(self.payer);
        let handed = service.offer(&other, Actor::Company, None, fixture.now);
        handed.await.unwrap();
        operation
    }

    async fn deliver(&self, now: Timestamp) {
        let few = NonZeroU32::new(STEP).unwrap();
        let claim = Claim {
            now,
            lease: TimeDelta::seconds(30),
            limit: STEP,
            slow_limit: STEP,
            per_endpoint: few,
            per_slow_endpoint: few,
            answering: Vec::new(),
            per_answering_endpoint: few,
        };
        let outbox = &self.fixture.stores.outbox;
        outbox.next_due().await.unwrap();
        let leased = outbox.claim(&claim).await.unwrap().leased;
        assert!(!leased.is_empty(), "nothing to deliver");
        for leased in leased {
            outbox.note_slow(&[leased.endpoint]).await.unwrap();
            deliver(&self.fixture, &leased, now).await;
        }
    }

    async fn send_mail(&self, now: Timestamp) {
        let queue = &*self.fixture.stores.mails;
        queue.next_due().await.unwrap();
        let leased = lease_by(queue, &mail_claim(now)).await.unwrap();
        let sent = Outcome::Sent { at: now };
        assert!(queue.finish(&leased, &sent).await.unwrap());
    }

    async fn seal(&self, now: Timestamp) {
        let operator = ActingOperator {
            id: None,
            name: OperatorName::parse("root").unwrap(),
            request: RequestId::new(self.fixture.uuid()),
            address: std::net::Ipv4Addr::LOCALHOST.into(),
        };
        let audited = Audited {
            role: OperatorRole::Admin,
            action: "cancelOperation",
            record: "operations/1".to_owned(),
        };
        let request = Arc::new(AuditedRequest::new(now, operator, audited, None));
        let directory = self.fixture.directory();
        let left = directory.leave_row(request, AuditOutcome::Done).await;
        left.unwrap();
        directory.seal(now, None).await.unwrap();
        directory.count_activity().await.unwrap();
    }

    async fn clean(&self, now: Timestamp) {
        let house = &self.fixture.stores.housekeeping;
        house.settle_endpoints(STEP).await.unwrap();
        house.bring_forward(now, STEP).await.unwrap();
        house.forget_expired_replies(now, STEP).await.unwrap();
        house.forget_rate_windows(now, now, STEP).await.unwrap();
        house.forget_ended_deliveries(now, STEP).await.unwrap();
        house.forget_ended_mails(now, STEP).await.unwrap();
        let (files, before) = (&self.fixture.stores.files, self.fixture.now);
        files.settle_files(before, STEP).await.unwrap();
        let claimed = files.claim_unnamed_files(before, before, now, STEP).await;
        for file in claimed.unwrap() {
            files.forget_file(file).await.unwrap();
        }
    }

    /// Makes the tables large.
    pub(crate) async fn fill(&self) {
        fill(&self.fixture).await;
        let others = [
            ("companies", ("cnpj", "printf('%014d', n)")),
            ("users", ("email", "n || '@example.com'")),
            ("api_keys", ("hash", "randomblob(32)")),
        ];
        for (table, (column, value)) in others {
            let id = ("id", "randomblob(16)");
            copy(&self.fixture, table, &[id, (column, value)]).await;
        }
        let key = ("key", "'key-number-' || n");
        copy(&self.fixture, "idempotency_replies", &[key]).await;
    }
}
