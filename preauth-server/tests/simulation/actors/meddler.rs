//! The operator: pauses and resumes endpoints, resends deliveries, deploys.

use std::sync::Arc;

use crate::clock::sleep_ms;
use crate::history::Fact;
use crate::random::Random;
use crate::world::Cluster;

use super::some_instance;

const TURNS: u32 = 7;

/// Meddles a few times.
pub(super) async fn meddles(cluster: &Arc<Cluster>, mut random: Random) {
    let database = &cluster.database;
    let meddling = database.faults.mix().meddling;
    for _ in 0..TURNS {
        sleep_ms(random.between(1, 5_000)).await;
        if !random.chance(meddling) {
            continue;
        }
        let [payer, supplier] = &cluster.scene.hearings;
        let endpoint = random.pick(&[payer.endpoint, supplier.endpoint]);
        match random.below(5) {
            0 | 1 => database.pause(endpoint),
            2 => database.resume(endpoint),
            3 => resend(cluster, &mut random),
            _ => cluster.renew(some_instance(&mut random)).await,
        }
    }
}

/// Resends some delivery that was given out before.
fn resend(cluster: &Arc<Cluster>, random: &mut Random) {
    let given_out: Vec<_> = cluster.chronicle.read(|entries| {
        let claims = entries.iter().filter_map(|entry| match &entry.fact {
            Fact::Claimed { delivery, .. } => Some(*delivery),
            _ => None,
        });
        claims.collect()
    });
    if given_out.is_empty() {
        return;
    }
    let delivery = random.pick(&given_out);
    let now = cluster.chronicle.now();
    if cluster.database.memory.resend(delivery, now) {
        cluster.chronicle.note(Fact::Resent(delivery));
    }
}
