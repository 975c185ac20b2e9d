//! Reports of a few periods beside years of counts of many companies.

use chrono::TimeDelta;
use preauth_core::value::{CompanyId, Timestamp};
use preauth_server::directory::{Period, ReportQuery, ReportScope, ReportUnit};
use uuid::Uuid;

use super::reported::run_unseen;
use super::{Scene, UNTIL_PLANS_ARE_KEPT};
use crate::store::feed::number;

/// Two days of 2,000 companies, four kinds each, years of the payer and of all together, and deliveries given up long ago.
const FILL: &str = "INSERT INTO activity_counts (unit, period, head_office_id, kind, count, amount_cents, net_amount_cents)
         SELECT 'DAY', d, id, k, 1, 0, 0
         FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 2000)) AS c,
              unnest(ARRAY['2026-11-19', '2026-11-20']) AS d, unnest(ARRAY['a', 'b', 'c', 'd']) AS k;
     INSERT INTO activity_counts (unit, period, head_office_id, kind, count, amount_cents, net_amount_cents)
         SELECT 'DAY', to_char('2016-01-01'::DATE + n, 'YYYY-MM-DD'), id, k, 1, 0, 0
         FROM generate_series(1, 3000) AS n, unnest(ARRAY['{payer}'::UUID, '{all}'::UUID]) AS id,
              unnest(ARRAY['a', 'b', 'c', 'd']) AS k;
     CREATE TEMPORARY TABLE many AS
         SELECT n, gen_random_uuid() AS event_id, gen_random_uuid() AS id FROM generate_series(1, 20000) AS n;
     INSERT INTO deliveries
         SELECT (jsonb_populate_record(d, jsonb_build_object('id', m.id, 'event_id', m.event_id,
             'status', 'FAILED', 'next_attempt_at', NULL, 'leased_until', NULL,
             'created_at', {now} - 864000000, 'ended_at', {now} - 800000000))).*
         FROM many m JOIN deliveries d ON d.id = (SELECT min(id::TEXT)::UUID FROM deliveries);
     DROP TABLE many";

fn day(name: &str, begin: &str) -> Period {
    let begin = Timestamp::parse(begin).unwrap();
    Period {
        name: name.to_owned(),
        begin,
        end: begin.saturating_add(TimeDelta::days(1)),
    }
}

impl Scene {
    async fn fill_reports(&self) {
        let fixture = &self.fixture;
        let statements = FILL
            .replace("{payer}", &self.payer.as_uuid().to_string())
            .replace("{all}", &Uuid::nil().to_string())
            .replace("{now}", &fixture.now.unix_millis().to_string());
        run_unseen(fixture, &statements).await;
    }

    /// Counts what is new and reports it in each scope.
    async fn report(&self) -> Vec<usize> {
        let fixture = &self.fixture;
        number(fixture).await;
        while fixture.directory().count_activity().await.unwrap() > 0 {}
        let after = Some(("2026-11-20".to_owned(), CompanyId::new(Uuid::nil())));
        let mut rows = Vec::new();
        for scope in [
            ReportScope::Everybody,
            ReportScope::HeadOffice(self.payer),
            ReportScope::Each { after, limit: 3 },
        ] {
            let query = ReportQuery {
                unit: ReportUnit::Day,
                periods: vec![
                    day("2026-11-20", "2026-11-20T03:00:00.000Z"),
                    day("2026-11-21", "2026-11-21T03:00:00.000Z"),
                ],
                scope,
            };
            rows.push(fixture.directory().report(&query).await.unwrap().len());
        }
        rows
    }

    async fn report_with_few_rows(&self) {
        self.plans.scans();
        assert_eq!(self.report().await, [2, 2, 3]);
        let scans = self.plans.scans();
        assert!(scans.iter().any(|it| it.relation == "activity_counts"));
        for scan in scans {
            let is_page = scan.place.contains("ORDER BY unit, period");
            let max_rows = if is_page { 256.0 } else { 32.0 };
            assert!(scan.rows <= max_rows, "{} rows: {}", scan.rows, scan.place);
        }
    }
}

#[tokio::test]
async fn a_report_reads_what_it_shows() {
    let scene = Scene::new().await;
    scene.fixture.offer(scene.payer).await;
    scene.fill_reports().await;
    scene.report_with_few_rows().await;
    scene.analyze().await;
    scene.report_with_few_rows().await;
}

#[tokio::test]
async fn a_report_reads_what_it_shows_by_plans_that_were_made_for_a_few_rows() {
    for is_analysed in [false, true] {
        let scene = Scene::new().await;
        scene.fixture.offer(scene.payer).await;
        if is_analysed {
            scene.analyze().await;
        }
        for _ in 0..UNTIL_PLANS_ARE_KEPT {
            scene.fixture.offer(scene.payer).await;
            scene.report().await;
        }
        scene.fill_reports().await;
        scene.fixture.offer(scene.payer).await;
        scene.report_with_few_rows().await;
    }
}

#[tokio::test]
async fn a_report_reads_what_it_shows_by_statistics_of_a_few_rows() {
    let scene = Scene::new().await;
    scene.fixture.offer(scene.payer).await;
    scene.report().await;
    scene.analyze().await;
    scene.fill_reports().await;
    scene.fixture.offer(scene.payer).await;
    scene.report_with_few_rows().await;
}
