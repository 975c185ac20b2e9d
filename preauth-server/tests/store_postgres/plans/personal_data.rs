//! Erasures and the walk through old files: each step reads a bounded number of rows.

use chrono::TimeDelta;
use preauth_core::value::{CompanyId, Timestamp};
use preauth_server::directory::Company;
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use super::Scene;
use super::audit::OPERATIONS;
use super::reported::run_unseen;
use crate::store::fixture::Fixture;

/// Files that a step of the walk looks at.
const LIMIT: u32 = 100;
/// Operations that a step of an erasure walks over.
const BATCH: u32 = 200;
/// So many rows of one table belong to as many rows of another, at most.
const MAX_ROWS_EACH: u32 = 3;
const BEGUN: &str = "INSERT INTO erasures (company_id, began_at, operator)
     SELECT unnest(ARRAY[supplier_id, payer_id]), 1, 'root'
     FROM operations WHERE id = (SELECT max(id) FROM operations)
     ON CONFLICT DO NOTHING";

/// A side of the newest operation.
async fn company(fixture: &Fixture, side: &str) -> Company {
    let sql = format!("SELECT {side} FROM operations ORDER BY id DESC LIMIT 1");
    let id: Uuid = sqlx::query_scalar(AssertSqlSafe(sql))
        .fetch_one(&fixture.sql)
        .await
        .unwrap();
    let found = fixture.directory().company(CompanyId::new(id)).await;
    found.unwrap().unwrap()
}

#[tokio::test]
async fn steps_read_few_rows_however_many_operations_there_are() {
    let scene = Scene::new().await;
    scene.work().await;
    run_unseen(&scene.fixture, OPERATIONS).await;
    let fixture = &scene.fixture;
    let (as_supplier, as_payer) = (
        company(fixture, "supplier_id").await,
        company(fixture, "payer_id").await,
    );
    for is_analysed in [false, true] {
        if is_analysed {
            scene.analyze().await;
        }
        run_unseen(fixture, BEGUN).await;
        scene.plans.scans();
        let later = fixture.later(TimeDelta::days(400));
        let mut after = 0;
        for _ in 0..3 {
            let step =
                fixture
                    .stores
                    .housekeeping
                    .forget_old_files(fixture.now, later, after, LIMIT);
            after = step.await.unwrap().next.unwrap();
        }
        let began_at = Timestamp::from_unix_millis(1).unwrap();
        for company in [&as_supplier, &as_payer] {
            for _ in 0..3 {
                let step = fixture
                    .directory()
                    .continue_erasure(company, began_at, fixture.now);
                assert_eq!(step.await.unwrap().completed_at, None);
            }
        }
        let max = f64::from(LIMIT.max(BATCH) * MAX_ROWS_EACH);
        let many: Vec<_> = scene
            .plans
            .scans()
            .iter()
            .filter(|it| it.rows > max)
            .map(|it| format!("{} rows of {}: {}", it.rows, it.relation, it.place))
            .collect();
        assert!(many.is_empty(), "analysed: {is_analysed}: {many:#?}");
    }
}
