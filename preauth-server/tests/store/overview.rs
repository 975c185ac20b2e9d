//! What needs attention over all companies.

use chrono::TimeDelta;
use preauth_core::port::Verdict;
use preauth_core::value::{CompanyId, Timestamp};

use super::deliveries::{claim_one, fail};
use crate::store::fixture::Fixture;

async fn failing(fixture: &Fixture, now: Timestamp) -> Vec<(CompanyId, Timestamp)> {
    let found = fixture.directory().attention(now).await.unwrap();
    let since = |it: &preauth_server::directory::CompanyAttention| (it.company, it.since);
    found.failing_endpoints.iter().map(since).collect()
}

/// A head office of which a delivery, made now, waits after a failed attempt.
async fn failing_payer(fixture: &Fixture, made_at: Timestamp) -> CompanyId {
    let payer = fixture.payer().await;
    fixture.add_endpoint(payer).await;
    fixture.offer_at(payer, made_at).await;
    let retry = Verdict::RetryAt {
        at: made_at.saturating_add(TimeDelta::hours(1)),
        pause_endpoint: false,
    };
    fail(fixture, &claim_one(fixture, made_at).await, retry).await;
    payer
}

#[tokio::test]
async fn every_failing_endpoint_is_found_the_longest_first() {
    let fixture = Fixture::new().await;
    assert_eq!(failing(&fixture, fixture.now).await, []);
    let mut expected = Vec::new();
    for seconds in 0..3 {
        let made_at = fixture.later(TimeDelta::seconds(seconds));
        let payer = failing_payer(&fixture, made_at).await;
        expected.push((payer, made_at));
    }
    // Another delivery of an endpoint changes nothing, and neither does one that has not failed.
    let later = fixture.later(TimeDelta::seconds(9));
    fixture.offer_at(expected[0].0, later).await;
    let calm = fixture.payer().await;
    fixture.add_endpoint(calm).await;
    fixture.offer(calm).await;
    let found = fixture.directory().attention(later).await.unwrap();
    assert_eq!(found.retried_deliveries, 3);
    assert_eq!(failing(&fixture, later).await, expected);
}
