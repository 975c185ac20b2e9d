//! Events on request: numbering them and reading on.

use preauth_core::port::FeedQuery;

use super::Scene;
use super::large::ROWS;
use super::reported::run_unseen;
use crate::store::feed::{everything, number, page};

/// What numbering and reading go over; a plan for each must have been reported.
const TABLES: [&str; 6] = [
    "companies",
    "event_batches",
    "event_feed",
    "event_feed_ends",
    "events",
    "operations",
];

/// Years of events of the payer and of others, all numbered, and one company whose oldest were removed.
const FILL: &str = "CREATE TEMPORARY TABLE many AS
                 SELECT n, gen_random_uuid() AS id FROM generate_series(1, {ROWS}) AS n;
             INSERT INTO events (id, head_office_id, type, at, actor, body, xid)
                 SELECT id, CASE WHEN n % 2 = 0 THEN '{payer}'::UUID ELSE id END, 'invoice.received',
                        {now} + n, 'PLATFORM', '{}', {xid} FROM many;
             INSERT INTO event_feed (head_office_id, number, event_id, type, payer_id, supplier_id)
                 SELECT CASE WHEN n % 2 = 0 THEN '{payer}'::UUID ELSE id END, 1000000 + n, id,
                        'invoice.received', '{payer}'::UUID, id FROM many;
             INSERT INTO event_feed_ends (head_office_id, company_id, number, event_id)
                 SELECT id, id, 1, id FROM many;
             INSERT INTO event_batches (number, numbered_at, after_event, last_event, next_xid, pending,
                     head_offices, place)
                 SELECT 1000000 + m.n, {now}, 1000000 + m.n - 1, 1000000 + m.n,
                        (txid_current() % 4294967296) + 1, '{}', ARRAY['{payer}'::UUID],
                        d.oid::TEXT || '/' || 'event_batches'::REGCLASS::OID::TEXT
                            || '/' || (txid_current() % 4294967296)::TEXT
                 FROM many m, pg_database d WHERE d.datname = current_database();
             DROP TABLE many";

/// What a dump brought: many events with their numbers, and its last batch, of an hour ago.
const DUMP: &str = "CREATE TEMPORARY TABLE many AS
                 SELECT n, ('01900000' || lpad(to_hex(n), 24, '0'))::UUID AS id
                 FROM generate_series(1, {ROWS}) AS n;
             INSERT INTO events (id, head_office_id, type, at, actor, body, xid)
                 SELECT id, '{payer}'::UUID, 'invoice.received', {now} - 864000000 + n, 'PLATFORM', '{}',
                        1000000000 + n
                 FROM many;
             INSERT INTO event_feed (head_office_id, number, event_id, type, payer_id, supplier_id)
                 SELECT '{payer}'::UUID, n, id, 'invoice.received', '{payer}'::UUID, '{payer}'::UUID
                 FROM many;
             INSERT INTO event_batches (number, numbered_at, after_event, last_event, next_xid, pending,
                     head_offices, place)
                 VALUES (1, {now} - 864000000, 0, {ROWS}, 2000000000, '{}', ARRAY['{payer}'::UUID],
                         'there'),
                        (2, {now} - 3600000, {ROWS}, {ROWS}, 2000000000, '{}', '{}', 'there');
             DROP TABLE many";

impl Scene {
    /// Offers and reads on; returns where the reader stands.
    async fn read_on(&self, query: &mut FeedQuery) {
        self.fixture.offer(self.payer).await;
        let page = page(&self.fixture, query).await;
        assert!(!page.events.is_empty());
        query.after = Some(page.next);
    }

    /// With events of transactions that this cluster counted long ago.
    pub(super) async fn fill_feed(&self) {
        self.fill_feed_of("3").await;
    }

    async fn fill_feed_of(&self, xid: &str) {
        self.run(&FILL.replace("{xid}", xid)).await;
    }

    async fn run(&self, statements: &str) {
        let (payer, now) = (self.payer.as_uuid(), self.fixture.now.unix_millis());
        let statements = statements
            .replace("{ROWS}", &ROWS.to_string())
            .replace("{payer}", &payer.to_string())
            .replace("{now}", &now.to_string());
        run_unseen(&self.fixture, &statements).await;
    }

    /// Everything that was filled in is read.
    async fn catch_up(&self, query: &mut FeedQuery) {
        loop {
            let page = page(&self.fixture, query).await;
            query.after = Some(page.next);
            if !page.has_more {
                return;
            }
        }
    }
}

#[tokio::test]
async fn a_reader_that_is_up_to_date_finds_few_rows_by_plans_that_were_made_for_empty_tables() {
    let scene = Scene::new().await;
    let mut query = everything(scene.payer);
    for _ in 0..super::UNTIL_PLANS_ARE_KEPT {
        scene.read_on(&mut query).await;
    }
    scene.fill_feed().await;
    scene.catch_up(&mut query).await;
    scene.plans.scans();
    scene.read_on(&mut query).await;
    scene.assert_few_rows(&TABLES);
}

#[tokio::test]
async fn a_reader_that_is_up_to_date_finds_few_rows_by_plans_that_were_made_for_large_tables() {
    let scene = Scene::new().await;
    let mut query = everything(scene.payer);
    scene.fill_feed().await;
    scene.analyze().await;
    scene.catch_up(&mut query).await;
    for _ in 0..super::UNTIL_PLANS_ARE_KEPT {
        scene.read_on(&mut query).await;
    }
    scene.plans.scans();
    scene.read_on(&mut query).await;
    scene.assert_few_rows(&TABLES);
}

#[tokio::test]
async fn a_reader_that_is_up_to_date_finds_few_rows_by_plans_that_were_made_for_a_few_analysed_rows()
 {
    let scene = Scene::new().await;
    let mut query = everything(scene.payer);
    for _ in 0..2 {
        scene.read_on(&mut query).await;
    }
    scene.analyze().await;
    for _ in 0..super::UNTIL_PLANS_ARE_KEPT {
        scene.read_on(&mut query).await;
    }
    scene.fill_feed().await;
    scene.catch_up(&mut query).await;
    scene.plans.scans();
    scene.read_on(&mut query).await;
    scene.assert_few_rows(&TABLES);
}

/// A dump's events may be of transactions that its new cluster has yet to count.
#[tokio::test]
async fn a_reader_finds_few_rows_beside_what_a_dump_of_a_busier_cluster_brought() {
    let scene = Scene::new().await;
    let mut query = everything(scene.payer);
    for _ in 0..super::UNTIL_PLANS_ARE_KEPT {
        scene.read_on(&mut query).await;
    }
    scene.fill_feed_of("txid_current() + 1000000 + n").await;
    scene.catch_up(&mut query).await;
    scene.plans.scans();
    scene.read_on(&mut query).await;
    scene.assert_few_rows(&TABLES);
}

/// By a plan that is made for it, once.
#[tokio::test]
async fn the_first_look_at_a_restored_dump_finds_few_rows_however_many_it_brought() {
    for is_analysed in [false, true] {
        let scene = Scene::new().await;
        scene.run(DUMP).await;
        if is_analysed {
            scene.analyze().await;
        }
        scene.fixture.offer(scene.payer).await;
        scene.plans.scans();
        number(&scene.fixture).await;
        let tables = ["event_batches", "event_feed", "events", "operations"];
        scene.assert_few_rows(&tables);
        let last: i64 = sqlx::query_scalar("SELECT max(number) FROM event_feed")
            .fetch_one(&scene.fixture.sql)
            .await
            .unwrap();
        assert_eq!(last, i64::from(ROWS) + 1);
    }
}
