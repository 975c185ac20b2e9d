//! Lists over all companies: neither a total nor the deepest page reads more than the newest rows, by the plans
//! that are made for large tables, analysed or not.

use super::Scene;
use super::reported::run_unseen;
use crate::store::listings::{ROWS, read_all};

/// A page, and the entries before it.
const MAX_ROWS: f64 = 10_100.0;
const TABLES: [&str; 5] = [
    "audit_log",
    "deliveries",
    "notices",
    "operations",
    "payment_orders",
];

/// Copies of what there is, of one head office and over many.
const FILL: &str = "CREATE TEMPORARY TABLE many AS
         SELECT n, 4000000 + n AS operation_id, gen_random_uuid() AS event_id, gen_random_uuid() AS id
         FROM generate_series(1, {rows}) AS n;
     INSERT INTO operations
         SELECT (jsonb_populate_record(o, jsonb_build_object(
             'id', m.operation_id, 'invoice_number', 'NF-' || m.n, 'invoice_number_nfc', NULL,
             'external_reference', NULL, 'status', 'IN_PRE_AUTH', 'closing_action', NULL,
             'closing_reason', NULL))).*
         FROM many m JOIN operations o ON o.id = (SELECT max(id) FROM operations WHERE id < 1000000);
     INSERT INTO events
         SELECT (jsonb_populate_record(e, jsonb_build_object('id', m.event_id, 'version', m.n + 10))).*
         FROM many m JOIN events e ON e.id = (SELECT min(id::TEXT)::UUID FROM events WHERE version = 1);
     INSERT INTO deliveries
         SELECT (jsonb_populate_record(d, jsonb_build_object(
             'id', m.id, 'event_id', m.event_id, 'status', 'DELIVERED', 'attempts_made', 1,
             'next_attempt_at', NULL, 'leased_until', NULL, 'ended_at', {now}))).*
         FROM many m JOIN deliveries d ON d.id = (SELECT min(id::TEXT)::UUID FROM deliveries);
     INSERT INTO notices
         SELECT (jsonb_populate_record(n, jsonb_build_object(
             'id', m.id, 'operation_id', m.operation_id, 'status', 'SENT', 'next_attempt_at', NULL,
             'leased_until', NULL, 'ended_at', {now}))).*
         FROM many m JOIN notices n
             ON n.id = (SELECT min(id::TEXT)::UUID FROM notices WHERE operation_id IS NOT NULL);
     INSERT INTO audit_log (request_id, at, operator_name, role, address, action, outcome, record)
         SELECT id, {now} - 1, 'root', 'ADMIN', '127.0.0.1', 'cancelOperation', 'DONE',
             'operations/' || operation_id FROM many;
     INSERT INTO payment_orders (id, head_office_id, payer_id, supplier_id, version, status,
             amount_cents, created_at)
         SELECT m.operation_id, o.head_office_id, o.payer_id, o.supplier_id, 1, 'PAID', 1, {now}
         FROM many m JOIN operations o ON o.id = m.operation_id;
     DROP TABLE many";

#[tokio::test]
async fn lists_over_all_companies_read_no_more_than_the_newest_rows() {
    let scene = Scene::new().await;
    let fixture = &scene.fixture;
    scene.fill().await;
    fixture.offer(scene.payer).await;
    let statements = FILL
        .replace("{rows}", &ROWS.to_string())
        .replace("{now}", &fixture.now.unix_millis().to_string());
    run_unseen(fixture, &statements).await;
    for is_analysed in [false, true] {
        if is_analysed {
            scene.analyze().await;
        }
        let offer = fixture.new_offer(scene.payer);
        scene.plans.scans();
        read_all(fixture, &offer).await;
        let scans = scene.plans.scans();
        let many: Vec<_> = scans
            .iter()
            .filter(|it| it.rows > MAX_ROWS)
            .map(|it| format!("{} rows of {}: {}", it.rows, it.relation, it.place))
            .collect();
        assert!(many.is_empty(), "analysed: {is_analysed}: {many:#?}");
        for table in TABLES {
            let is_read = scans.iter().any(|it| it.relation == table);
            assert!(is_read, "{table}");
        }
    }
}
