//! Plans of every statement of one pass over the store: creates, the work after them, reads, the janitor and
//! an audit. No table is read from end to end but for a named reason. The server makes no statistics; with
//! those of an `ANALYZE` SQLite would read some tables from end to end.

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
use sqlx::Row as _;
use sqlx::sqlite::SqliteConnection;

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
/// Tables with one row, or a row for each step of the schema.
const TINY: [&str; 4] = [
    "_sqlx_migrations",
    "deployment",
    "schema_compatibility",
    "event_numbers",
];
/// Parts of plans and of statements that may read a table or an index from end to end.
const PERMITTED: [&str; 10] = [
    // The index has what is leased at the moment, what waits after a failure, or what fails.
    "INDEX deliveries_leased",
    "INDEX deliveries_retried_of_endpoint",
    "INDEX endpoints_failing",
    // Once a minute; a row for each company.
    "INDEX endpoints_one_per_head_office",
    // From the front, until one is found or so many were read.
    "INDEX notices_due",
    "FROM event_feed ORDER BY number LIMIT",
    "ORDER BY after_number DESC LIMIT 1",
    "ORDER BY id DESC LIMIT 1",
    "ORDER BY number DESC LIMIT 1",
    // The contact of one company, which has the name of a table in the statement.
    "WITH company (id, contact)",
];
/// Endpoints, a few for each company, and the table of sequences, whole.
const SMALL: [&str; 2] = ["SCAN e", "SCAN sqlite_sequence"];

/// A head office with a key, a user and an endpoint.
struct Scene {
    fixture: Fixture,
    payer: CompanyId,
    key: KeyHash,
}

impl Scene {
    async fn new() -> Self {
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
        let url = self.fixture.database.url();
        let archive = store::archive(&url).await.unwrap();
        let mut pages = archive.pages().await.unwrap();
        while !pages.next(100).await.unwrap().records.is_empty() {}
        self.clean(late).await;
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

    async fn fill(&self) {
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

/// The lines of a statement's plan that read a table or one of its indexes from end to end.
async fn scans(
    sql: &mut SqliteConnection,
    tables: &BTreeSet<String>,
    statement: &str,
) -> Vec<String> {
    let explain = format!("EXPLAIN QUERY PLAN {statement}");
    let plan = sqlx::raw_sql(sqlx::AssertSqlSafe(explain));
    let lines = plan.fetch_all(sql).await;
    let lines = lines.unwrap_or_else(|error| panic!("{error}: {statement}"));
    let lines = lines.iter().map(|line| line.get::<String, _>("detail"));
    let named = names(tables, statement);
    let is_scan = |line: &String| {
        let mut words = line.split_whitespace();
        words.next() == Some("SCAN") && words.next().is_some_and(|name| named.contains(name))
    };
    lines.filter(is_scan).collect()
}

/// The tables of a statement with their aliases, as its plan names them.
fn names(tables: &BTreeSet<String>, statement: &str) -> BTreeSet<String> {
    let words: Vec<&str> = statement
        .split(|it: char| !(it.is_alphanumeric() || it == '_'))
        .filter(|it| !it.is_empty())
        .collect();
    let mut names = BTreeSet::new();
    for (place, word) in words.iter().enumerate() {
        if tables.contains(*word) {
            let mut alias = words.iter().skip(place + 1).filter(|it| **it != "AS");
            names.insert((*word).to_owned());
            names.extend(alias.next().map(|it| (*it).to_owned()));
        }
    }
    names
}

/// The statements that read more than they may.
async fn found(
    fixture: &Fixture,
    state: &str,
    statements: &BTreeSet<String>,
    permitted: &[&str],
) -> Vec<String> {
    let mut sql = fixture.sql.acquire().await.unwrap();
    let names = "SELECT name FROM sqlite_schema WHERE type = 'table'";
    let names = sqlx::query_scalar(names).fetch_all(&mut *sql).await;
    let names: Vec<String> = names.unwrap();
    let is_large = |name: &String| !TINY.contains(&name.as_str());
    let tables: BTreeSet<String> = names.into_iter().filter(is_large).collect();
    let mut found = Vec::new();
    for statement in statements {
        let text = statement.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_permitted = |place: &str| permitted.iter().any(|it| place.contains(it));
        for line in scans(&mut sql, &tables, statement).await {
            if !SMALL.contains(&line.as_str()) && !is_permitted(&line) && !is_permitted(&text) {
                found.push(format!("{state}: {line}: {text}"));
            }
        }
    }
    found
}

#[tokio::test]
async fn no_statement_reads_a_table_from_end_to_end_but_for_a_named_reason() {
    let heard = Statements::listen();
    let scene = Scene::new().await;
    heard.take();
    scene.pass().await;
    let is_planned = |it: &String| {
        let first = it.split_whitespace().next().unwrap_or_default();
        PLANNED.contains(&first.to_uppercase().as_str())
    };
    let statements: BTreeSet<String> = heard.take().into_iter().filter(is_planned).collect();
    assert!(statements.len() > 100, "{}", statements.len());
    for kind in ["SELECT", "INSERT", "UPDATE", "DELETE"] {
        let is_there = statements
            .iter()
            .any(|it| it.trim_start().starts_with(kind));
        assert!(is_there, "no {kind}");
    }
    let empty = Fixture::new().await;
    let mut all = found(&empty, "empty", &statements, &PERMITTED).await;
    all.extend(found(&scene.fixture, "few rows", &statements, &PERMITTED).await);
    scene.fill().await;
    all.extend(found(&scene.fixture, "many rows", &statements, &PERMITTED).await);
    let has_statistics = "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'";
    let count: i64 = sqlx::query_scalar(has_statistics)
        .fetch_one(&scene.fixture.sql)
        .await
        .unwrap();
    assert_eq!(count, 0, "nobody has analysed the tables");
    assert!(all.is_empty(), "{all:#?}");
}
