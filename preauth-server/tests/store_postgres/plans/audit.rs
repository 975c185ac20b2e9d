//! Pages of an audit: each reads a bounded number of rows, whatever is found in them.

use std::collections::BTreeSet;

use preauth_server::store;

use super::Scene;
use super::queues;
use super::reported::run_unseen;

/// Rows of the table that a page walks.
const LIMIT: u32 = 100;
/// So many rows of one table belong to as many rows of another, at most.
const MAX_ROWS_EACH: u32 = 3;
/// Part of the one statement that counts all operations of a head office at one moment.
const COUNTS: &str = "sum(counted)";
/// The tables that are walked, and what is read with their rows.
const TABLES: [&str; 9] = [
    "companies",
    "deliveries",
    "events",
    "idempotency_replies",
    "invoice_file_bytes",
    "invoice_files",
    "notices",
    "operation_counts",
    "operations",
];

/// Copies of an operation, each with a reply and a file.
pub(super) const OPERATIONS: &str = "INSERT INTO operations
         SELECT (jsonb_populate_record(o, jsonb_build_object(
             'id', 501000000 + n, 'invoice_number', 'NF-' || n, 'invoice_number_nfc', NULL,
             'external_reference', NULL, 'status', 'IN_PRE_AUTH', 'closing_action', NULL,
             'closing_reason', NULL))).*
         FROM operations o, generate_series(1, 3000) AS n
         WHERE o.id = (SELECT max(id) FROM operations);
     INSERT INTO idempotency_replies (head_office_id, key, fingerprint, operation_id, body, expires_at)
         SELECT head_office_id, 'key-of-' || id, sha256('x'), id, '', 1 FROM operations
         WHERE id > 501000000;
     INSERT INTO invoice_files (operation_id, name, media_type, size_bytes, sha256)
         SELECT id, 'nota.pdf', 'application/pdf', 1, sha256('x') FROM operations WHERE id > 501000000";

#[tokio::test]
async fn a_page_of_an_audit_reads_few_rows_however_much_there_is() {
    let scene = Scene::new().await;
    scene.work().await;
    run_unseen(&scene.fixture, OPERATIONS).await;
    run_unseen(&scene.fixture, queues::FILL).await;
    for is_analysed in [false, true] {
        if is_analysed {
            scene.analyze().await;
        }
        scene.plans.scans();
        let url = scene.fixture.database.url();
        let archive = store::archive(&url).await.unwrap();
        let mut pages = archive.pages().await.unwrap();
        while !pages.next(LIMIT).await.unwrap().records.is_empty() {}
        let scans = scene.plans.scans();
        let max = f64::from(LIMIT * MAX_ROWS_EACH);
        let many: Vec<_> = scans
            .iter()
            .filter(|it| it.rows > max && !it.place.contains(COUNTS))
            .map(|it| format!("{} rows of {}: {}", it.rows, it.relation, it.place))
            .collect();
        assert!(many.is_empty(), "analysed: {is_analysed}: {many:#?}");
        let seen: BTreeSet<_> = scans.iter().map(|it| it.relation.as_str()).collect();
        let unseen: Vec<_> = TABLES.iter().filter(|it| !seen.contains(**it)).collect();
        assert!(unseen.is_empty(), "{unseen:?} not in {seen:?}");
    }
}
