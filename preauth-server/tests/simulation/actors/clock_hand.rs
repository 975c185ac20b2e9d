//! Jumps of the clock, as after a machine's sleep.

use std::sync::Arc;

use chrono::TimeDelta;

use crate::clock::sleep_ms;
use crate::random::Random;
use crate::world::Cluster;

const TURNS: u32 = 6;

/// Jumps a few times: mostly seconds, sometimes hours, rarely days.
pub(super) async fn moves(cluster: &Arc<Cluster>, mut random: Random) {
    let jumps = cluster.database.faults.mix().jumps;
    for _ in 0..TURNS {
        sleep_ms(random.between(1, 8_000)).await;
        if random.chance(jumps) {
            let seconds = match random.below(20) {
                0 => random.between(20, 48) * 3_600,
                1..6 => random.between(60, 4 * 3_600),
                _ => random.between(1, 40),
            };
            let by = TimeDelta::seconds(i64::try_from(seconds).unwrap());
            cluster.database.jump(&cluster.clock, by).await;
        }
    }
}
