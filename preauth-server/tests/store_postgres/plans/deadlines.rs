//! What a scrape asks of deadlines, beside many operations and rows of the audit log.

use chrono::TimeDelta;

use super::Scene;

/// Counting stops there, so a statement that counts reads as many rows.
const COUNT_LIMIT: f64 = 10_000.0;
const FEW: f64 = 32.0;
/// Tables that grow without end.
const GROWING: [&str; 2] = ["operations", "audit_log"];

impl Scene {
    /// Looks, with the plans that the session has.
    async fn find_deadlines(&self) {
        let watch = &self.fixture.stores.watch;
        for (days, max_rows) in [(-1, FEW), (31, COUNT_LIMIT)] {
            let at = self.fixture.later(TimeDelta::days(days));
            self.plans.scans();
            let found = watch.deadlines(at).await.unwrap();
            assert_eq!(found.overdue_offers > 0, days > 0);
            let scans = self.plans.scans();
            for relation in GROWING {
                assert!(scans.iter().any(|it| it.relation == relation), "{relation}");
            }
            for scan in scans.iter().filter(|it| GROWING.contains(&&*it.relation)) {
                assert!(scan.rows <= max_rows, "{} rows: {}", scan.rows, scan.place);
            }
        }
    }

    async fn keep_plans_of_deadlines(&self) {
        let watch = &self.fixture.stores.watch;
        for _ in 0..super::UNTIL_PLANS_ARE_KEPT {
            watch.deadlines(self.fixture.now).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_scrape_finds_deadlines_with_few_rows_of_what_grows() {
    let scene = Scene::new().await;
    scene.work().await;
    scene.keep_plans_of_deadlines().await;
    scene.fill_queues().await;
    scene.find_deadlines().await;
    scene.analyze().await;
    scene.find_deadlines().await;
}

#[tokio::test]
async fn a_scrape_finds_deadlines_with_few_rows_by_plans_that_were_made_for_a_few_analysed_rows() {
    let scene = Scene::new().await;
    scene.work().await;
    scene.analyze().await;
    scene.keep_plans_of_deadlines().await;
    scene.fill_queues().await;
    scene.find_deadlines().await;
}
