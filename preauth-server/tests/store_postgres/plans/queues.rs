//! The work after a create: its deliveries, its mail, commands, expiry, and the janitor's removals.

use std::net::Ipv4Addr;
use std::num::NonZeroU32;
use std::sync::Arc;

use chrono::TimeDelta;
use futures_util::future::join_all;
use preauth_core::access::OperatorRole;
use preauth_core::operation::Command;
use preauth_core::port::{ActingOperator, Audited, Claim};
use preauth_core::value::{OperatorName, RequestId, Timestamp};
use preauth_server::audit_trail::AuditedRequest;
use preauth_server::directory::{AuditOutcome, Sealing};
use preauth_server::mail::{Claimed, DailyShare, MailClaim, MailLimits, Outcome};

use crate::store::deliveries::{LEASE, deliver};
use crate::store::mails::{command_done, lease_by};

use super::Scene;
use super::reported::run_unseen;

/// Records of one kind that a step may take.
const STEP: u32 = 2;
/// Mails of a head office: more than a list of them has.
const FLOOD: u32 = 100;
/// Maximum number of mails that one claim leases.
const MAX_LEASED_MAILS: u32 = 16;
/// Maximum rows of one table that one statement of these claims may read: a list, or the mails of a claim
/// with what their limits are counted from.
pub(super) const MAX_ROWS_OF_TURNS: f64 = 160.0;
/// Maximum pages: a mail is found by its id.
pub(super) const MAX_PAGES_OF_TURNS: f64 = 600.0;
/// Mails that wait, of which each is about nothing but its head office.
const FLOOD_OF_MAILS: &str =
    "INSERT INTO notices (id, head_office_id, kind, recipient, content, staged_at, next_attempt_at)
     SELECT gen_random_uuid(), '{head_office}', 'ENDPOINT_PAUSED', 'b' || n || '@example.com',
            '{}', {now}, {now}
     FROM generate_series(1, {mails}) AS n";
/// The tables that mails are listed from.
pub(super) const TABLES_OF_TURNS: [&str; 2] = ["companies", "notices"];
/// Copies of an event, a delivery, its attempt and a mail that are over, for each of many operations.
pub(super) const FILL: &str = "CREATE TEMPORARY TABLE many AS
         SELECT id AS operation_id, gen_random_uuid() AS event_id, gen_random_uuid() AS id
         FROM operations WHERE id BETWEEN 501000000 AND 501999999;
     INSERT INTO events
         SELECT (jsonb_populate_record(e, jsonb_build_object(
             'id', m.event_id, 'operation_id', m.operation_id))).*
         FROM many m JOIN events e ON e.id = (SELECT min(id::TEXT)::UUID FROM events WHERE version = 1);
     INSERT INTO deliveries
         SELECT (jsonb_populate_record(d, jsonb_build_object(
             'id', m.id, 'event_id', m.event_id))).*
         FROM many m JOIN deliveries d
             ON d.id = (SELECT min(id::TEXT)::UUID FROM deliveries WHERE status = 'DELIVERED');
     INSERT INTO attempts
         SELECT (jsonb_populate_record(a, jsonb_build_object('delivery_id', m.id))).*
         FROM many m JOIN attempts a
             ON a.delivery_id = (SELECT min(delivery_id::TEXT)::UUID FROM attempts);
     INSERT INTO notices
         SELECT (jsonb_populate_record(n, jsonb_build_object(
             'id', m.id, 'operation_id', m.operation_id, 'opened_at', m.operation_id,
             'recipient', 'a' || m.operation_id || '@example.com'))).*
         FROM many m JOIN notices n
             ON n.id = (SELECT min(id::TEXT)::UUID FROM notices
                        WHERE status = 'SENT' AND kind = 'OFFER');
     -- The real seals stay the newest, or nothing would be sealed after these.
     UPDATE audit_log SET seal = seal + 30000;
     UPDATE audit_seals SET number = number + 30000;
     INSERT INTO audit_seals (number, sealed_at, row_count, hash)
         VALUES (30000, 0, 1, decode(repeat('00', 32), 'hex'));
     INSERT INTO audit_log (request_id, at, operator_name, role, address, action, outcome, record, seal)
         SELECT id, 0, 'root', 'ADMIN', '127.0.0.1', 'cancelOperation', 'DONE',
             'operations/' || operation_id, 2 + operation_id % 1000000 / 100
         FROM many;
     INSERT INTO audit_seals (number, sealed_at, row_count, hash)
         SELECT DISTINCT seal, 0, 100, sha256('x') FROM audit_log WHERE seal < 30000;
     DROP TABLE many";

impl Scene {
    /// One of everything that a background task or a command does.
    pub(super) async fn work(&self) {
        let now = self.fixture.now;
        let operation = self.fixture.offer(self.payer).await;
        self.deliver(now).await;
        self.send_mail(now).await;
        command_done(&self.fixture, operation.id, &Command::Cancel).await;
        self.deliver(now).await;
        self.fixture.offer(self.payer).await;
        let late = self.fixture.later(TimeDelta::days(31));
        let expired = self.fixture.service.expire_overdue(late, STEP).await;
        assert!(expired.unwrap().failed.is_empty());
        self.deliver(late).await;
        self.clean(late).await;
        self.seal(now).await;
    }

    /// Fills the tables, and those of what followed the creates.
    pub(super) async fn fill_queues(&self) {
        self.fill().await;
        run_unseen(&self.fixture, FILL).await;
    }

    async fn seal(&self, now: Timestamp) {
        let operator = ActingOperator {
            id: None,
            name: OperatorName::parse("root").unwrap(),
            request: RequestId::new(self.fixture.uuid()),
            address: Ipv4Addr::LOCALHOST.into(),
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
        let known = match directory.seal(now, None).await.unwrap() {
            Sealing::Sealed { seal, rows: 1 } => seal,
            other => panic!("{other:?}"),
        };
        let idle = directory.seal(now, Some(known)).await.unwrap();
        assert_eq!(idle, Sealing::Nothing(Some(known)));
    }

    async fn deliver(&self, now: Timestamp) {
        let few = NonZeroU32::new(STEP).unwrap();
        let claim = Claim {
            now,
            lease: LEASE,
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
            deliver(&self.fixture, &leased, now).await;
        }
    }

    async fn send_mail(&self, now: Timestamp) {
        let limits = MailLimits {
            per_mailbox: NonZeroU32::new(1_000).unwrap(),
            per_head_office: NonZeroU32::new(1_000).unwrap(),
            ..MailLimits::default()
        };
        let claim = MailClaim {
            now,
            lease: LEASE,
            limit: 1,
            share: DailyShare::on_the_day_of(now, limits),
        };
        let queue = &*self.fixture.stores.mails;
        queue.next_due().await.unwrap();
        let leased = lease_by(queue, &claim).await.unwrap();
        let sent = Outcome::Sent { at: now };
        assert!(queue.finish(&leased, &sent).await.unwrap());
    }

    /// Sends more mails of two head offices than a list of them has, in claims of several.
    pub(super) async fn send_mails_in_turns(&self) {
        let other = self.fixture.payer().await;
        for (head_office, mails) in [(self.payer, FLOOD), (other, STEP)] {
            let staged = FLOOD_OF_MAILS
                .replace("{head_office}", &head_office.as_uuid().to_string())
                .replace("{mails}", &mails.to_string())
                .replace("{now}", &self.fixture.now.unix_millis().to_string());
            run_unseen(&self.fixture, &staged).await;
        }
        let now = self.fixture.now;
        let claim = MailClaim {
            now,
            lease: LEASE,
            limit: MAX_LEASED_MAILS,
            share: DailyShare::on_the_day_of(now, MailLimits::default()),
        };
        let queue = &*self.fixture.stores.mails;
        queue.next_due().await.unwrap();
        let mut sent = 0;
        loop {
            let claimed = queue.claim(&claim).await.unwrap();
            if claimed.is_empty() {
                break;
            }
            let outcome = Outcome::Sent { at: now };
            let finished = join_all(claimed.iter().map(async |mail| match mail {
                Claimed::Leased(leased) => queue.finish(leased, &outcome).await.unwrap(),
                Claimed::PutOff | Claimed::Canceled { .. } => false,
            }));
            sent += finished.await.into_iter().filter(|it| *it).count();
        }
        assert_eq!(sent, usize::try_from(FLOOD + STEP).unwrap());
    }

    async fn clean(&self, now: Timestamp) {
        let house = &self.fixture.stores.housekeeping;
        house.settle_endpoints(STEP).await.unwrap();
        house.bring_forward(now, STEP).await.unwrap();
        house.forget_expired_replies(now, STEP).await.unwrap();
        house.forget_rate_windows(now, now, STEP).await.unwrap();
        house.forget_ended_deliveries(now, STEP).await.unwrap();
        house.forget_ended_mails(now, STEP).await.unwrap();
        // None of the files is as old: the janitor leaves none that has a name when it searches others.
        let (files, before) = (&self.fixture.stores.files, self.fixture.now);
        files.settle_files(before, STEP).await.unwrap();
        let claimed = files.claim_unnamed_files(before, before, now, STEP).await;
        for file in claimed.unwrap() {
            files.forget_file(file).await.unwrap();
        }
    }
}
