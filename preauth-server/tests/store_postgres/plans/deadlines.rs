//! What a scrape asks of deadlines, beside many operations and rows of the audit log.

use chrono::TimeDelta;

use super::Scene;

/// Counting stops there, so a statement that counts reads as many rows.
const COUNT_LIMIT: f64 = 10_000.0;
const FEW: f64 = 32.0;
/// Tables that grow without end.
const GROWING: [&str; 2] = ["operations", "audit_log"];

#[tokio::test]
async fn a_scrape_finds_deadlines_with_few_rows_of_what_grows() {
    let scene = Scene::new().await;
    let watch = &scene.fixture.stores.watch;
    scene.work().await;
    // The session keeps the plans that it made for few rows.
    for _ in 0..super::UNTIL_PLANS_ARE_KEPT {
        watch.deadlines(scene.fixture.now).await.unwrap();
    }
    scene.fill_queues().await;
    for is_analysed in [false, true] {
        if is_analysed {
            scene.analyze().await;
        }
        for (days, max_rows) in [(-1, FEW), (31, COUNT_LIMIT)] {
            let at = scene.fixture.later(TimeDelta::days(days));
            scene.plans.scans();
            let found = watch.deadlines(at).await.unwrap();
            assert_eq!(found.overdue_offers > 0, days > 0);
            let scans = scene.plans.scans();
            for relation in GROWING {
                assert!(scans.iter().any(|it| it.relation == relation), "{relation}");
            }
            for scan in scans.iter().filter(|it| GROWING.contains(&&*it.relation)) {
                assert!(scan.rows <= max_rows, "{} rows: {}", scan.rows, scan.place);
            }
        }
    }
}
