//! What needs attention over all companies, beside many deliveries.

use super::Scene;
use super::reported::run_unseen;

/// Counting stops there, so a statement that counts reads as many rows.
const COUNT_LIMIT: f64 = 10_000.0;
/// Rows of a day, all of one endpoint: some wait after a failed attempt, and more were delivered.
const FILL: &str = "CREATE TEMPORARY TABLE many AS
         SELECT n, gen_random_uuid() AS event_id, gen_random_uuid() AS id
         FROM generate_series(1, 36000) AS n;
     INSERT INTO events
         SELECT (jsonb_populate_record(e, jsonb_build_object('id', m.event_id, 'version', m.n + 10))).*
         FROM many m JOIN events e ON e.id = (SELECT min(id::TEXT)::UUID FROM events);
     INSERT INTO deliveries
         SELECT (jsonb_populate_record(d, CASE WHEN m.n % 3 = 0
             THEN jsonb_build_object('id', m.id, 'event_id', m.event_id, 'status', 'PENDING',
                 'attempts_made', 1, 'created_at', {now} - 1000, 'next_attempt_at', {now} + 3600000,
                 'leased_until', NULL, 'ended_at', NULL)
             ELSE jsonb_build_object('id', m.id, 'event_id', m.event_id, 'status', 'DELIVERED',
                 'attempts_made', 1, 'next_attempt_at', NULL, 'leased_until', NULL,
                 'ended_at', {now} - m.n) END)).*
         FROM many m JOIN deliveries d ON d.id = (SELECT min(id::TEXT)::UUID FROM deliveries);
     DROP TABLE many";

#[tokio::test]
async fn what_needs_attention_is_found_with_few_rows_beside_many_deliveries() {
    let scene = Scene::new().await;
    let fixture = &scene.fixture;
    fixture.offer(scene.payer).await;
    let statements = FILL
        .replace("{payer}", &scene.payer.as_uuid().to_string())
        .replace("{now}", &fixture.now.unix_millis().to_string());
    run_unseen(fixture, &statements).await;
    // Younger than more deliveries of another endpoint than are counted.
    let other = fixture.payer().await;
    fixture.add_endpoint(other).await;
    fixture.offer(other).await;
    let retried =
        "UPDATE deliveries SET attempts_made = 1, next_attempt_at = next_attempt_at + 3600000
                   WHERE status = 'PENDING' AND attempts_made = 0";
    run_unseen(fixture, retried).await;
    scene.analyze().await;
    scene.plans.scans();
    let found = fixture.directory().attention(fixture.now).await.unwrap();
    assert_eq!(found.retried_deliveries, 10_000);
    assert_eq!((found.overdue_deliveries, found.failed_deliveries), (0, 0));
    let offices: Vec<_> = found
        .failing_endpoints
        .iter()
        .map(|it| it.company)
        .collect();
    assert_eq!(offices, [scene.payer, other]);
    let scans = scene.plans.scans();
    assert!(scans.iter().any(|it| it.relation == "deliveries"));
    for scan in scans {
        let is_count = scan.place.contains("attempts_made > 0 LIMIT");
        let max_rows = if is_count { COUNT_LIMIT } else { 32.0 };
        assert!(scan.rows <= max_rows, "{} rows: {}", scan.rows, scan.place);
    }
}
