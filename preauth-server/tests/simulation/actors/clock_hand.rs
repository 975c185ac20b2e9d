//! Jumps of the clock, as after a machine's sleep, and what a clock leaves that was ahead and came back.

use std::sync::Arc;

use chrono::TimeDelta;
use preauth_server::clock::Clock;

use crate::clock::sleep_ms;
use crate::history::Fact;
use crate::random::Random;
use crate::world::Cluster;

use super::meddler;

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

/// Leaves deliveries a few times as a clock does that was days ahead for a while, and whose instances
/// have ended: one leased, one due, until days from now.
pub(super) async fn leaves_times_ahead(cluster: &Arc<Cluster>, mut random: Random) {
    let database = &cluster.database;
    let leftovers = database.faults.mix().leftovers;
    for _ in 0..TURNS {
        sleep_ms(random.between(1, 8_000)).await;
        if !random.chance(leftovers) {
            continue;
        }
        let days = i64::try_from(random.between(2, 40)).unwrap();
        let by = TimeDelta::days(days);
        if random.chance(500) {
            database.lease_one(cluster.clock.now(), by).await;
        } else {
            let at = cluster.clock.now().saturating_add(by);
            meddler::resend(cluster, &mut random, at).await;
        }
        cluster.chronicle.note(Fact::LeftAhead(by));
    }
}
