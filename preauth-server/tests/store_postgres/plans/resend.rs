//! A resend of a range of time: each step reads a bounded number of rows, however many deliveries there are and however few
//! of them are meant.

use chrono::TimeDelta;
use preauth_core::value::{DeliveryId, EnumSet};
use preauth_server::directory::{EndedStatus, ResendPlace, ResendRange};

use super::reported::run_unseen;
use super::{Scene, UNTIL_PLANS_ARE_KEPT};

/// Deliveries that a step reads.
const STEP: u32 = 1_000;
const DELIVERIES: usize = 200_000;
const FAILED: usize = 10;
const MANY: &str =
    "INSERT INTO deliveries (id, head_office_id, endpoint_id, event_id, event_type, status,
         attempts_made, created_at, ended_at)
     SELECT gen_random_uuid(), d.head_office_id, d.endpoint_id, gen_random_uuid(), d.event_type,
            CASE WHEN n % 20000 = 0 THEN 'FAILED' ELSE 'DELIVERED' END, 1,
            d.created_at + n, d.created_at + n
     FROM (SELECT * FROM deliveries LIMIT 1) d CROSS JOIN generate_series(1, 200000) n";

impl Scene {
    fn range(&self, statuses: EnumSet<EndedStatus>) -> ResendRange {
        ResendRange {
            company: self.payer,
            since: self.fixture.now,
            until: self.fixture.later(TimeDelta::hours(1)),
            event_types: None,
            statuses,
            began_at: self.fixture.later(TimeDelta::hours(1)),
        }
    }

    /// One step: the deliveries that can be resent, and the next place.
    async fn step(
        &self,
        range: &ResendRange,
        after: Option<ResendPlace>,
    ) -> (Vec<DeliveryId>, Option<ResendPlace>) {
        let found = self.fixture.directory().resendable(range, after, STEP);
        let found = found.await.unwrap();
        (found.deliveries, found.next)
    }

    fn assert_no_more_than_a_step(&self, what: &str) {
        let scans = self.plans.scans();
        assert!(scans.iter().any(|it| it.relation == "deliveries"));
        let many: Vec<_> = scans
            .iter()
            .filter(|it| it.rows > f64::from(STEP))
            .map(|it| format!("{} rows of {}: {}", it.rows, it.relation, it.place))
            .collect();
        assert!(many.is_empty(), "{what}: {many:#?}");
    }
}

/// Resends with the plans of an almost empty table, which was analysed or not, and then with those of a large one.
async fn resend_few_of_many(was_analysed: bool) {
    let scene = Scene::new().await;
    scene.create().await;
    if was_analysed {
        scene.analyze().await;
    }
    let (failed, all) = (
        scene.range([EndedStatus::Failed].into_iter().collect()),
        scene.range(EnumSet::all()),
    );
    for _ in 0..UNTIL_PLANS_ARE_KEPT {
        scene.step(&all, None).await;
        scene.step(&failed, None).await;
    }
    run_unseen(&scene.fixture, MANY).await;
    for (round, is_analysed) in [false, true].into_iter().enumerate() {
        if is_analysed {
            scene.analyze().await;
        }
        let what = format!("analysed: {is_analysed}");
        scene.plans.scans();
        let (mut after, mut found, mut steps) = (None, 0, 0);
        loop {
            let (deliveries, next) = scene.step(&failed, after).await;
            found += deliveries.len();
            steps += 1;
            after = next;
            if next.is_none() {
                break;
            }
        }
        assert_eq!(found, FAILED, "{what}");
        assert!(
            steps > DELIVERIES / usize::try_from(STEP).unwrap(),
            "{what}"
        );
        scene.assert_no_more_than_a_step(&what);
        // Of those that an earlier round queued, none is meant.
        let mut after = None;
        for _ in 0..3 * round {
            after = scene.step(&all, after).await.1;
        }
        for _ in 0..3 {
            let (deliveries, next) = scene.step(&all, after).await;
            let expected = u64::try_from(deliveries.len()).unwrap();
            assert!(expected > 0, "{what}");
            let due_at = all.began_at;
            let directory = scene.fixture.directory();
            let queued = directory.resend_ended(&all, deliveries, due_at);
            assert_eq!(queued.await.unwrap(), expected, "{what}");
            after = next;
        }
        scene.assert_no_more_than_a_step(&what);
    }
}

#[tokio::test]
async fn a_resend_reads_few_rows_however_few_of_many_deliveries_are_meant() {
    resend_few_of_many(false).await;
}

#[tokio::test]
async fn a_resend_reads_few_rows_by_plans_that_were_made_for_a_few_analysed_rows() {
    resend_few_of_many(true).await;
}
