//! Lists over all companies: whatever the filters and the statistics, neither a total nor a page reads more than the newest
//! rows, and of what is rare few rows are read.

use std::sync::Arc;

use test_support::Database;
use uuid::Uuid;

use super::UNTIL_PLANS_ARE_KEPT;
use super::reported::{Plans, Scan, run_unseen};
use crate::store::fixture::Fixture;
use crate::store::listings::{Filling, ROWS, Scene, Search, assert_found};

/// A page, and the entries before it, with others among them.
const MAX_ROWS: f64 = 15_000.0;
/// Where every other row is listed.
const MAX_HALF_ROWS: f64 = 25_000.0;
/// Of what is rare.
const MAX_RARE_ROWS: f64 = 200.0;
const MAX_RARE_PAGES: f64 = 500.0;
/// The totals of lists that have every entry.
const WHOLE: [&str; 4] = [
    "SELECT count(*) AS total FROM companies",
    "SELECT count(*) AS total FROM invoices",
    "SELECT count(*) AS total FROM payment_orders o WHERE 1 = 1",
    "SELECT count(*) AS total FROM suppressed_addresses",
];
const WAITING: [&str; 2] = ["deliveries", "notices"];
const TABLES: [&str; 8] = [
    "audit_log",
    "companies",
    "deliveries",
    "invoices",
    "notices",
    "operations",
    "payment_orders",
    "suppressed_addresses",
];

struct Postgres;

impl Filling for Postgres {
    fn numbers(&self) -> String {
        format!("generate_series(1, {ROWS}) AS numbers (n)")
    }

    fn id(&self, number: &str) -> String {
        format!("lpad(to_hex({number}), 32, '0')::UUID")
    }

    fn uuid_of(&self, id: Uuid) -> String {
        format!("'{id}'::UUID")
    }

    async fn columns(&self, fixture: &Fixture, table: &str) -> Vec<String> {
        let sql = "SELECT attname::TEXT FROM pg_attribute
                   WHERE attrelid = $1::REGCLASS AND attnum > 0 AND NOT attisdropped ORDER BY attnum";
        let columns = sqlx::query_scalar(sql).bind(table).fetch_all(&fixture.sql);
        columns.await.unwrap()
    }

    async fn execute(&self, fixture: &Fixture, sql: &str) {
        run_unseen(fixture, sql).await;
    }
}

struct Lists {
    fixture: Fixture,
    plans: Plans,
    scene: Scene,
}

impl Lists {
    async fn new() -> Self {
        let database = Arc::new(Database::fresh().await);
        database.without_autovacuum().await;
        let plans = Plans::of(&database).await;
        let fixture = Fixture::on(&database, 1).await;
        let scene = Scene::new(&fixture).await;
        Self {
            fixture,
            plans,
            scene,
        }
    }

    async fn keep_plans(&self) {
        for search in self.simple() {
            for page in search.pages(&self.scene) {
                for _ in 0..UNTIL_PLANS_ARE_KEPT {
                    search.read(&self.fixture, page).await;
                }
            }
        }
    }

    fn simple(&self) -> Vec<Search> {
        let searches = self.scene.searches().into_iter();
        searches.filter(Search::is_simple).collect()
    }

    async fn fill(&self) {
        self.scene.fill(&self.fixture, &Postgres).await;
    }

    async fn analyze(&self) {
        run_unseen(&self.fixture, "ANALYZE").await;
    }

    /// Reads the lists, and asserts that few rows of these tables were.
    async fn read(&self, searches: &[Search], tables: &[&str]) {
        let mut many = Vec::new();
        let mut seen = Vec::new();
        for search in searches {
            for page in search.pages(&self.scene) {
                self.plans.scans();
                let found = search.read(&self.fixture, page).await;
                assert_found(search, &self.scene, page, found);
                let scans = self.plans.scans();
                many.extend(self.too_many(search, &scans));
                seen.extend(scans.into_iter().map(|it| it.relation));
            }
        }
        let count = many.len();
        many.truncate(40);
        assert!(many.is_empty(), "{count}: {many:#?}");
        for table in tables {
            assert!(seen.iter().any(|it| it == table), "{table}");
        }
    }

    fn too_many(&self, search: &Search, scans: &[Scan]) -> Vec<String> {
        let is_rare = search.is_rare(&self.scene);
        let (max, max_pages) = if is_rare {
            (MAX_RARE_ROWS, MAX_RARE_PAGES)
        } else if self.scene.is_outage {
            (MAX_HALF_ROWS, f64::INFINITY)
        } else {
            (MAX_ROWS, f64::INFINITY)
        };
        let is_whole = |it: &&Scan| {
            let is_count = WHOLE.iter().any(|count| it.place.contains(count));
            search.is_whole() && !is_rare && is_count
        };
        let many = scans
            .iter()
            .filter(|it| it.rows > max || it.pages > max_pages);
        let line = |it: &Scan| {
            let Scan {
                relation,
                rows,
                pages,
                place,
                ..
            } = it;
            format!("{rows} rows, {pages} pages of {relation}: {place}: {search:?}")
        };
        many.filter(|it| !is_whole(it)).map(line).collect()
    }
}

#[tokio::test]
async fn lists_over_all_companies_read_few_rows_of_large_tables() {
    let lists = Lists::new().await;
    lists.fill().await;
    lists.analyze().await;
    lists.read(&lists.scene.searches(), &TABLES).await;
}

#[tokio::test]
async fn lists_over_all_companies_read_few_rows_of_tables_without_statistics() {
    let lists = Lists::new().await;
    lists.fill().await;
    lists.read(&lists.simple(), &TABLES).await;
}

#[tokio::test]
async fn lists_over_all_companies_read_few_rows_by_plans_that_were_made_for_empty_tables() {
    let lists = Lists::new().await;
    lists.keep_plans().await;
    lists.fill().await;
    lists.read(&lists.simple(), &TABLES).await;
}

#[tokio::test]
async fn lists_over_all_companies_read_few_rows_by_plans_that_were_made_for_a_few_analysed_rows() {
    let lists = Lists::new().await;
    lists.analyze().await;
    lists.keep_plans().await;
    lists.fill().await;
    // Of few rows each index of a company costs the same, and one without the reference may be taken.
    let by_reference =
        |it: &Search| matches!(it, Search::Operations(it) if it.external_reference.is_some());
    let searches = lists.simple().into_iter();
    let searches: Vec<_> = searches.filter(|it| !by_reference(it)).collect();
    lists.read(&searches, &TABLES).await;
}

#[tokio::test]
async fn lists_of_what_waits_read_few_rows_in_an_outage() {
    let mut lists = Lists::new().await;
    lists.scene = lists.scene.in_outage();
    lists.fill().await;
    lists.analyze().await;
    lists.read(&lists.scene.searches(), &WAITING).await;
}
