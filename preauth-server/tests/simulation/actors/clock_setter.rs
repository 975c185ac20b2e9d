//! Sets the clock of a single machine: mostly wrong, sometimes right.

use std::sync::Arc;

use chrono::TimeDelta;

use crate::clock::sleep_ms;
use crate::history::Fact;
use crate::random::Random;
use crate::world::Cluster;

use super::some_instance;

const TURNS: u32 = 5;

/// Sets clocks a few times: by seconds, minutes or weeks, forward and back.
pub(super) async fn sets(cluster: &Arc<Cluster>, mut random: Random) {
    let skews = cluster.database.faults.mix().skews;
    for _ in 0..TURNS {
        sleep_ms(random.between(1, 8_000)).await;
        if !random.chance(skews) {
            continue;
        }
        let instance = some_instance(&mut random);
        let seconds = match random.below(8) {
            0 => 0,
            1 | 2 => random.between(1, 29),
            3 | 4 => random.between(31, 3_600),
            _ => random.between(1, 40) * 86_400,
        };
        let ahead = TimeDelta::seconds(i64::try_from(seconds).unwrap());
        let ahead = if random.chance(700) { ahead } else { -ahead };
        cluster.machines[instance].set(ahead);
        cluster.chronicle.note(Fact::ClockSet { instance, ahead });
    }
}
