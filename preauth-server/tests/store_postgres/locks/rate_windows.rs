//! Rate windows whose rows somebody holds.

use std::sync::Arc;

use preauth_server::access::RateLimit;

use crate::store::fixture::Fixture;

use super::{Holder, REQUESTS_BESIDE, goes_on_beside, one_waits};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_rate_window_delays_its_own_key_and_no_others() {
    let fixture = Arc::new(Fixture::new().await);
    let (held, held_hash) = fixture.known_key().await;
    let (_, other_hash) = fixture.known_key().await;
    let limit = RateLimit::default();
    for hash in [&held_hash, &other_hash] {
        let entered = fixture
            .stores
            .access
            .authenticate(hash, limit, fixture.now)
            .await;
        entered.unwrap().unwrap();
    }
    let sql = format!(
        "SELECT 1 FROM rate_counts WHERE api_key_id = '{}' FOR UPDATE",
        held.id.as_uuid()
    );
    let holder = Holder::of(&fixture, &sql).await;
    let begin = || {
        let fixture = Arc::clone(&fixture);
        vec![tokio::spawn(async move {
            let access = &fixture.stores.access;
            access.authenticate(&held_hash, limit, fixture.now).await
        })]
    };
    let beside = async || {
        one_waits(&fixture).await;
        for _ in 0..REQUESTS_BESIDE {
            let access = &fixture.stores.access;
            let entered = access.authenticate(&other_hash, limit, fixture.now).await;
            entered.unwrap().unwrap();
        }
    };
    let mut entered = goes_on_beside(holder, begin, beside).await;
    // Counted once, although it was tried several times.
    let window = entered.pop().unwrap().unwrap().window;
    assert_eq!(window.unwrap().count, 2);
}
