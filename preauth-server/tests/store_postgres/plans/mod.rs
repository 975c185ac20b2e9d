//! Plans of the statements of a create and of what follows it. Sessions keep their plans, so a plan made on an empty table is
//! used on a large one until the table is analysed. Each must therefore find its rows by a key,
//! with any statistics.

mod audit;
mod deadlines;
mod feed;
mod kept;
mod large;
mod lists;
mod overview;
mod partial;
mod personal_data;
mod queues;
mod reported;
mod reports;
mod resend;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

use preauth_core::operation::{Actor, InvoiceFile, Offer};
use preauth_core::value::CompanyId;
use preauth_server::access::RateLimit;
use preauth_server::invoice_files::ContentHash;
use test_support::Database;

use crate::store::fixture::Fixture;
use crate::store::handovers::Everything;
use crate::store::pass::Office;
use reported::{Plans, run_unseen};

/// After this many creates each session of a store has made its plans.
const UNTIL_PLANS_ARE_KEPT: usize = 8;
/// Maximum rows of one table that one statement may read.
const MAX_ROWS: f64 = 32.0;
/// Maximum pages of one table and its index that it may read.
const MAX_PAGES: f64 = 96.0;
/// Rows that are there when a session makes its plans, so that of two indexes of a table one has a level more than the other.
const WHILE_GROWING: [u32; 5] = [16, 56, 64, 72, 512];
/// Part of the one condition for which a table is read from end to end, twice a minute: it has a row
/// for each company.
const ALL_ENDPOINTS: &str = "resumed_at IS NOT NULL";
const LIMIT: RateLimit = RateLimit {
    requests: 1_000_000,
    window_seconds: 60,
};
/// The tables a create reads; a plan for each must have been reported.
const TABLES: [&str; 11] = [
    "api_keys",
    "blocked_suppliers",
    "companies",
    "credit_analyses",
    "endpoints",
    "idempotency_replies",
    "invoice_file_bytes",
    "operations",
    "rate_counts",
    "supplier_invitations",
    "users",
];

/// A head office with a key, a user and an endpoint.
struct Scene {
    fixture: Fixture,
    plans: Plans,
    office: Office,
    payer: CompanyId,
    /// Repeated offers to one supplier, who is known after the first one.
    known: Offer,
}

impl Scene {
    async fn new() -> Self {
        let database = Arc::new(Database::fresh().await);
        database.without_autovacuum().await;
        let plans = Plans::of(&database).await;
        let fixture = Fixture::on(&database, 1).await;
        let office = Office::new(&fixture).await;
        let payer = office.payer;
        let known = fixture.new_offer(payer);
        Self {
            fixture,
            plans,
            office,
            payer,
            known,
        }
    }

    /// The database reads of a create request, in order: an invoice with a file to a new supplier,
    /// one whose delivery is handed over, another one to a known supplier, and a repetition of that one.
    async fn create(&self) {
        let stores = &self.fixture.stores;
        let entered = stores
            .access
            .authenticate(&self.office.hash, LIMIT, self.fixture.now);
        assert!(entered.await.unwrap().is_some());
        stores.files.named_bytes(self.payer).await.unwrap();
        let id = self.fixture.uuid().into_bytes();
        let content = ContentHash::from_bytes([id, id].concat().try_into().unwrap());
        let now = self.fixture.now;
        let announced = stores.files.announce_file(content, now, now);
        assert!(announced.await.unwrap());
        let mut offer = self.fixture.new_offer(self.payer);
        offer.file = Some(InvoiceFile {
            name: "nota.pdf".to_owned(),
            media_type: "application/pdf".to_owned(),
            size: 1,
            sha256: *content.as_bytes(),
        });
        self.fixture.make(&offer).await;

        let offer = self.fixture.new_offer(self.payer);
        let intake = Everything::default().intake();
        let service = self.fixture.service_handing_over_to(intake);
        let created = service.offer(&offer, Actor::Company, None, self.fixture.now);
        created.await.unwrap();

        let mut offer = self.known.clone();
        offer.invoice.number = self.fixture.new_offer(self.payer).invoice.number;
        self.fixture.make(&offer).await;
        let service = &self.fixture.service;
        let again = service.offer(&offer, Actor::Company, None, self.fixture.now);
        again.await.unwrap_err();
    }

    async fn keep_plans(&self) {
        for _ in 0..UNTIL_PLANS_ARE_KEPT {
            self.create().await;
        }
    }

    async fn send_mails_in_turns_with_few_rows(&self) {
        self.plans.scans();
        self.send_mails_in_turns().await;
        let tables = &queues::TABLES_OF_TURNS;
        self.assert_rows_and_pages(
            tables,
            queues::MAX_ROWS_OF_TURNS,
            queues::MAX_PAGES_OF_TURNS,
        );
    }

    async fn fill(&self) {
        self.fill_with(1..=large::ROWS).await;
    }

    async fn fill_with(&self, rows: RangeInclusive<u32>) {
        let (payer, supplier) = (self.payer, self.known.supplier.cnpj);
        large::fill(&self.fixture, payer, self.office.key, supplier, rows).await;
    }

    async fn analyze(&self) {
        run_unseen(&self.fixture, "ANALYZE").await;
    }

    /// Sessions plan anew what they do next, and look how many levels each index has by now.
    async fn forget_plans(&self) {
        let each = "DO $$ DECLARE name TEXT; BEGIN
                        FOR name IN SELECT c.oid::REGCLASS FROM pg_class c JOIN pg_am a ON a.oid = c.relam
                                    WHERE c.relnamespace = 'public'::REGNAMESPACE AND a.amname = 'btree' LOOP
                            EXECUTE format('ALTER INDEX %s RESET (fillfactor)', name);
                        END LOOP;
                        FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
                            EXECUTE format('ALTER TABLE %I RESET (toast_tuple_target)', name);
                        END LOOP;
                    END $$";
        run_unseen(&self.fixture, each).await;
    }

    /// The numbers of rows become known, and nothing of their values, as when a dump was loaded.
    async fn count_only(&self) {
        let each = "DO $$ DECLARE name TEXT; BEGIN
                        FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
                            EXECUTE 'REINDEX TABLE ' || name;
                        END LOOP;
                    END $$";
        run_unseen(&self.fixture, each).await;
    }

    /// Creates once more, with the kept plans.
    async fn find_few_rows(&self) {
        self.plans.scans();
        self.create().await;
        self.assert_few_rows(&TABLES);
    }

    /// Asserts that what was done since the last call read few rows, and each of the tables.
    fn assert_few_rows(&self, tables: &[&str]) {
        self.assert_rows_and_pages(tables, MAX_ROWS, MAX_PAGES);
    }

    fn assert_rows_and_pages(&self, tables: &[&str], max_rows: f64, max_pages: f64) {
        let scans = self.plans.scans();
        let many: Vec<_> = scans
            .iter()
            .filter(|it| it.rows > max_rows || it.pages > max_pages)
            .filter(|it| !it.place.contains(ALL_ENDPOINTS))
            .map(|it| format!("{} rows, {} pages: {}", it.rows, it.pages, it.place))
            .collect();
        assert!(many.is_empty(), "{many:#?}");
        let seen: BTreeSet<_> = scans.iter().map(|it| it.relation.as_str()).collect();
        let unseen: Vec<_> = tables.iter().filter(|it| !seen.contains(**it)).collect();
        assert!(unseen.is_empty(), "{unseen:?} not in {seen:?}");
    }
}

#[tokio::test]
async fn a_create_finds_few_rows_by_plans_that_were_made_for_empty_tables() {
    let scene = Scene::new().await;
    scene.keep_plans().await;
    scene.fill().await;
    scene.find_few_rows().await;
}

#[tokio::test]
async fn a_create_finds_few_rows_by_plans_that_were_made_for_analysed_empty_tables() {
    let scene = Scene::new().await;
    scene.analyze().await;
    scene.keep_plans().await;
    scene.fill().await;
    scene.find_few_rows().await;
}

#[tokio::test]
async fn a_create_finds_few_rows_by_plans_that_were_made_for_a_few_analysed_rows() {
    let scene = Scene::new().await;
    for _ in 0..2 {
        scene.create().await;
    }
    scene.analyze().await;
    scene.keep_plans().await;
    scene.fill().await;
    scene.find_few_rows().await;
}

#[tokio::test]
async fn a_create_finds_few_rows_by_plans_that_were_made_for_large_tables() {
    let scene = Scene::new().await;
    scene.create().await;
    scene.fill().await;
    scene.analyze().await;
    scene.keep_plans().await;
    scene.find_few_rows().await;
}

#[tokio::test]
async fn a_create_finds_few_rows_by_plans_that_were_made_for_tables_just_restored() {
    let scene = Scene::new().await;
    scene.create().await;
    scene.fill().await;
    scene.count_only().await;
    scene.keep_plans().await;
    scene.find_few_rows().await;
}

#[tokio::test]
async fn a_create_finds_few_rows_by_plans_that_were_made_for_small_tables_just_restored() {
    let scene = Scene::new().await;
    for _ in 0..2 {
        scene.create().await;
    }
    scene.count_only().await;
    scene.keep_plans().await;
    scene.fill().await;
    scene.find_few_rows().await;
}

/// Creates by plans that were made at each size, by sessions that knew the statistics or did not.
async fn find_few_rows_after_growing(is_analysed: bool) {
    for rows in WHILE_GROWING {
        let scene = Scene::new().await;
        scene.create().await;
        scene.fill_with(1..=rows).await;
        if is_analysed {
            scene.analyze().await;
        } else {
            scene.forget_plans().await;
        }
        scene.keep_plans().await;
        scene.fill_with(rows + 1..=large::ROWS).await;
        scene.find_few_rows().await;
    }
}

#[tokio::test]
async fn a_create_finds_few_rows_by_plans_that_were_made_while_the_tables_grew() {
    find_few_rows_after_growing(false).await;
}

#[tokio::test]
async fn a_create_finds_few_rows_by_plans_that_were_made_for_analysed_tables_that_grew() {
    find_few_rows_after_growing(true).await;
}

#[tokio::test]
async fn mails_in_turns_are_few_rows_by_plans_that_were_made_for_empty_tables() {
    let scene = Scene::new().await;
    scene.send_mails_in_turns().await;
    scene.work().await;
    scene.fill_queues().await;
    scene.send_mails_in_turns_with_few_rows().await;
}

#[tokio::test]
async fn mails_in_turns_are_few_rows_by_plans_that_were_made_for_a_few_analysed_rows() {
    let scene = Scene::new().await;
    scene.work().await;
    scene.analyze().await;
    scene.send_mails_in_turns().await;
    scene.fill_queues().await;
    scene.send_mails_in_turns_with_few_rows().await;
}

#[tokio::test]
async fn mails_in_turns_are_few_rows_by_plans_that_were_made_for_large_tables() {
    let scene = Scene::new().await;
    scene.work().await;
    scene.fill_queues().await;
    scene.analyze().await;
    scene.send_mails_in_turns().await;
    scene.send_mails_in_turns_with_few_rows().await;
}
