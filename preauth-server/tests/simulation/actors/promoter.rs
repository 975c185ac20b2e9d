//! The primary fails, and its standby replaces it.

use std::sync::Arc;

use crate::clock::sleep_ms;
use crate::random::Random;
use crate::world::Cluster;

const TURNS: u32 = 2;
/// Maximum time without a reachable primary.
const MAX_DOWN_MS: u64 = 3_000;

/// Promotes a standby from time to time.
pub(super) async fn promotes(cluster: &Arc<Cluster>, mut random: Random) {
    let promotions = cluster.database.faults.mix().promotions;
    for _ in 0..TURNS {
        sleep_ms(random.between(1, 15_000)).await;
        if random.chance(promotions) {
            cluster.database.promote(random.below(MAX_DOWN_MS));
        }
    }
}
