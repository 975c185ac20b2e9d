//! Everything that the store does, by plans that its sessions keep: whatever the tables were when these were made, no
//! statement reads more than it returns, but for a named reason.

use std::collections::BTreeSet;
use std::thread;

use super::partial::{self, Partial};
use super::reported::{Scan, run_unseen};
use super::{ALL_ENDPOINTS, MAX_PAGES, MAX_ROWS, Scene};
use crate::store::feed::number;
use crate::store::pass::{audit, literals, pass, search};

/// A store has several connections, and each keeps its own plans.
const UNTIL_EACH_KEEPS_PLANS: usize = 2;

/// Rows of which indexes have one level or two.
const SOME: u32 = 180;
const MANY: u32 = 2000;

/// What the tables were when the plans were made; they are large when these are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    NeverAnalysed,
    /// By sessions that began while some indexes had a level more than others.
    WhileGrowing,
    ForFewAnalysedRows,
    ForLargeTables,
    /// Large ones, of whose values nothing is known.
    JustRestored,
}

const STATES: [Made; 5] = [
    Made::NeverAnalysed,
    Made::WhileGrowing,
    Made::ForFewAnalysedRows,
    Made::ForLargeTables,
    Made::JustRestored,
];

/// Parts of statements and of their plans that read more than a few rows, and why they may.
const PERMITTED: [(&str, &str); 22] = [
    (ALL_ENDPOINTS, "twice a minute; a row for each company"),
    ("AS total", "counts all that a list has"),
    ("ORDER BY unit, period", "a page of a report"),
    (
        "SELECT count(*) AS slow FROM endpoints",
        "for metrics; a row for each company",
    ),
    (
        "WITH RECURSIVE waiting (endpoint_id)",
        "a row for each endpoint",
    ),
    (
        "SELECT c.id, c.name, e.paused_at AS since",
        "when an operator asks; a row for each company",
    ),
    (
        "(failing_since IS NOT NULL)",
        "twice a minute; a row for each company",
    ),
    (
        "AS overdue_offers",
        "what waits for an operator; a row for each key",
    ),
    (
        "SELECT id, name, company_id, expires_at FROM api_keys",
        "when an operator asks; a row for each key",
    ),
    (
        "SELECT name FROM operators",
        "when an operator is added; a row for each",
    ),
    (
        "FROM invoice_file_bytes GROUP BY head_office_id",
        "a row for each head office",
    ),
    (
        "FROM operation_counts GROUP BY head_office_id",
        "twice a minute; some rows for each payer",
    ),
    ("_sqlx_migrations", "a row for each step"),
    ("notices_sent_to_mailbox", "a day's mails of one mailbox"),
    (
        "WITH last AS MATERIALIZED",
        "numbers all events that are new",
    ),
    (
        "SELECT e.id, e.head_office_id, e.type, e.at, o.origin",
        "counts all events that are new",
    ),
    (
        "SELECT d.head_office_id, d.created_at AS at",
        "counts all deliveries that are new",
    ),
    (
        "SELECT (SELECT count(*) FROM supplier_invitations",
        "when an operator asks what is kept of a person",
    ),
    (
        "FROM suppressed_addresses s WHERE (SELECT",
        "when an operator asks what is kept of a person",
    ),
    (
        "DELETE FROM platform_replies WHERE body LIKE",
        "when an operator erases a person",
    ),
    (
        "SELECT d.* FROM unnest(ARRAY(SELECT d.id FROM deliveries d",
        "a company's deliveries of a type or status, for an operator; no more rows than the list's total reads",
    ),
    (
        "SELECT id, head_office_id, operation_id, coalesce(variant, kind)",
        "a company's mails of a kind or status, for an operator; no more rows than the list's total reads",
    ),
];

/// SQL that the pass does not reach, and why.
const UNREACHED: [(&str, &str); 22] = [
    ("rows/key.rs: JOIN companies", "SQLite alone"),
    ("migrations.rs", "the schema's own tests"),
    ("claim.rs: UPDATE", "one by its id, which cannot be read"),
    (
        "sql/mails/turns.rs",
        "mails in turns, which have tests of their own",
    ),
    (
        "sql/dialect.rs: WHERE coalesce(n.next",
        "mails in turns, which have tests of their own",
    ),
    (
        "sql/queries.rs: head_office_id IN",
        "lists over all companies: `lists`",
    ),
    (
        "sql/queries.rs: SELECT id FROM (",
        "lists over all companies: `lists`",
    ),
    (
        "sql/queries.rs: GROUP BY head_office_id",
        "lists over all companies: `lists`",
    ),
    (
        "FROM operation_counts WHERE status IN",
        "a row for each head office and status",
    ),
    ("AND +status IN", "SQLite alone"),
    ("FROM event_feed WHERE number > $1 ORDER", "SQLite alone"),
    ("sqlite_sequence", "SQLite alone"),
    (
        "FROM event_batches a",
        "an audit of events' numbers, by ranges of them",
    ),
    (
        "SELECT DISTINCT h.id FROM event_batches",
        "an audit of events' numbers, by ranges of them",
    ),
    ("AS counted", "the files of one head office, by an audit"),
    ("sandbox/mark.rs", "one row of a sandbox"),
    ("postgres/sandbox.rs", "the start of a sandbox"),
    ("postgres/sequences.rs", "the start, and a promotion"),
    ("postgres/primary/identity.rs", "the start of a session"),
    (
        "postgres/checkup.rs",
        "`doctor`: what the server says of itself",
    ),
    ("postgres/access.rs: SELECT EXISTS", "one by its id"),
    ("postgres/backup/", "a backup, which reads everything"),
];

/// Read a table from end to end, and find a row by its key in words that a partial index has.
const PLANTED: [&str; 2] = [
    "SELECT count(*) FROM operations WHERE amount_cents + 0 = 1",
    "SELECT 1 FROM endpoints e WHERE e.id = (SELECT id FROM endpoints LIMIT 1) AND e.deleted_at IS NULL",
];

/// Copies of a row of each table that has few, with keys of their own: no table is small, so that no
/// statement is fast because of that. The others say where this database stands.
const FILL: &str = "DO $$ DECLARE t RECORD; is_small BOOLEAN; BEGIN
         FOR t IN
             SELECT c.oid::REGCLASS AS name, (
                 SELECT string_agg(DISTINCT format('%L, %s', k.attname, CASE k.atttypid
                     WHEN 'UUID'::REGTYPE THEN 'gen_random_uuid()'
                     WHEN 'BYTEA'::REGTYPE THEN 'sha256(n::TEXT::BYTEA)'
                     WHEN 'TEXT'::REGTYPE THEN '(90000000000000 + n)::TEXT'
                     ELSE '50000000 + n' END), ', ')
                 FROM pg_index i CROSS JOIN LATERAL (
                     SELECT a.attname, a.atttypid FROM pg_attribute a
                     WHERE a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
                     ORDER BY array_position(ARRAY['UUID', 'BIGINT', 'BYTEA', 'TEXT']::REGTYPE[],
                         a.atttypid::REGTYPE) LIMIT 1) AS k
                 WHERE i.indrelid = c.oid AND i.indisunique) AS changed
             FROM pg_class c
             WHERE c.relkind = 'r' AND c.relnamespace = 'public'::REGNAMESPACE AND c.relname NOT IN (
                 '_sqlx_migrations', 'activity_steps', 'audit_log', 'audit_seals', 'deployment', 'id_lineages',
                 'schema_compatibility')
         LOOP
             EXECUTE format('SELECT count(*) < 1000 FROM %s', t.name) INTO is_small;
             IF is_small THEN
                 EXECUTE format('INSERT INTO %1$s OVERRIDING SYSTEM VALUE
                     SELECT (jsonb_populate_record(o, jsonb_build_object(%2$s))).*
                     FROM %1$s o, generate_series(1, {ROWS}) AS n
                     WHERE o.ctid = (SELECT ctid FROM %1$s LIMIT 1) ON CONFLICT DO NOTHING',
                     t.name, t.changed);
             END IF;
         END LOOP;
     END $$";

/// What one state showed.
struct Shown {
    made: Made,
    statements: BTreeSet<String>,
    scans: Vec<Scan>,
    planted: Vec<Scan>,
    partial: Vec<Partial>,
}

impl Scene {
    async fn pass(&self) {
        pass(&self.fixture, self.office).await;
    }

    async fn fill_small_tables(&self, rows: u32) {
        run_unseen(&self.fixture, &FILL.replace("{ROWS}", &rows.to_string())).await;
    }

    async fn fill_tables(&self) {
        self.fill_queues().await;
        self.fill_feed().await;
        self.fill_small_tables(MANY).await;
        // The first numbering goes over all that is new, and so does the first count.
        number(&self.fixture).await;
        while self.fixture.directory().count_activity().await.unwrap() > 0 {}
    }
}

/// Passes until plans made in this state are kept, and once more over large tables.
async fn show(made: Made) -> Shown {
    let scene = Scene::new().await;
    scene.pass().await;
    if made == Made::NeverAnalysed {
        search(&scene.fixture).await;
        audit(&scene.fixture).await;
    }
    let is_large = matches!(made, Made::ForLargeTables | Made::JustRestored);
    if is_large {
        scene.fill_tables().await;
    }
    match made {
        Made::NeverAnalysed => {}
        Made::WhileGrowing => {
            scene.fill_small_tables(SOME).await;
            scene.forget_plans().await;
        }
        Made::ForFewAnalysedRows | Made::ForLargeTables => scene.analyze().await,
        Made::JustRestored => scene.count_only().await,
    }
    for _ in 0..UNTIL_EACH_KEEPS_PLANS {
        scene.pass().await;
    }
    if !is_large {
        scene.fill_tables().await;
    }
    scene.plans.scans();
    scene.pass().await;
    let scans = scene.plans.scans();
    let statements = scene.plans.statements();
    // The fixture's own sessions may be silent since they filled the tables.
    let sql = scene.fixture.database.sql().await;
    for planted in PLANTED {
        sqlx::query(planted).execute(&sql).await.unwrap();
    }
    let planted = scene.plans.scans();
    Shown {
        made,
        statements,
        scans,
        planted,
        partial: partial::all(&sql).await,
    }
}

impl Shown {
    fn is_by_chance(&self, scan: &Scan) -> bool {
        self.partial.iter().any(|it| it.may_replace(scan))
    }
}

/// Of an index that is read from end to end, and is empty as it happens: by another plan the table would have been read.
fn finds_nothing_anywhere(scan: &Scan) -> bool {
    scan.condition.is_empty() && !scan.index.is_empty() && scan.rows == 0.0
}

fn is_many(scan: &Scan) -> bool {
    scan.rows > MAX_ROWS || scan.pages > MAX_PAGES
}

/// Lets each state be shown by a thread of its own: plans are reported on the thread that executes.
fn all_shown() -> Vec<Shown> {
    let shown = |made| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        runtime.block_on(show(made))
    };
    thread::scope(|threads| {
        let begun = STATES.map(|made| threads.spawn(move || shown(made)));
        begun.into_iter().map(|it| it.join().unwrap()).collect()
    })
}

#[test]
fn no_statement_reads_more_than_it_returns_whenever_its_plan_was_made() {
    let (mut many, mut executed, mut needed) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    let mut by_chance = BTreeSet::new();
    for shown in all_shown() {
        assert!(shown.planted.iter().any(is_many), "{:?}", shown.made);
        let planted: Vec<_> = shown.planted.iter().map(|it| &it.place).collect();
        let is_found = shown.planted.iter().any(|it| shown.is_by_chance(it));
        assert!(is_found, "{:?}: {planted:#?}", shown.made);
        executed.extend(shown.statements.iter().cloned());
        let chosen = shown.scans.iter().filter(|it| shown.is_by_chance(it));
        by_chance.extend(chosen.map(|it| it.place.clone()));
        for scan in &shown.scans {
            let name = PERMITTED.iter().find(|(name, _)| scan.place.contains(name));
            if is_many(scan) || finds_nothing_anywhere(scan) {
                needed.extend(name.map(|(name, _)| *name));
            }
            if is_many(scan) && name.is_none() {
                let Scan { rows, pages, .. } = scan;
                many.push(format!(
                    "{:?}: {rows} rows, {pages} pages: {}",
                    shown.made, scan.place
                ));
            }
        }
    }
    assert!(many.is_empty(), "{many:#?}");
    assert!(by_chance.is_empty(), "{by_chance:#?}");
    let unneeded: Vec<_> = PERMITTED
        .iter()
        .filter(|(name, _)| !needed.contains(name))
        .collect();
    assert!(unneeded.is_empty(), "{unneeded:#?}");
    let missing = literals::missing("postgres", &executed, &UNREACHED);
    assert!(missing.is_empty(), "{missing:#?}");
}
