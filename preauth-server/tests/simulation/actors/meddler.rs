//! The operator: pauses, resumes and moves endpoints, rotates secrets, resends deliveries, deploys.

use std::sync::Arc;

use chrono::TimeDelta;
use preauth_core::value::Timestamp;

use crate::clock::sleep_ms;
use crate::history::Fact;
use crate::random::Random;
use crate::world::Cluster;

use super::some_instance;

const TURNS: u32 = 7;

/// Intervenes a few times.
pub(super) async fn meddles(cluster: &Arc<Cluster>, mut random: Random) {
    let database = &cluster.database;
    let meddling = database.faults.mix().meddling;
    for turn in 0..TURNS {
        sleep_ms(random.between(1, 5_000)).await;
        if !random.chance(meddling) {
            continue;
        }
        let [payer, supplier] = &cluster.scene.subscribers;
        let endpoint = random.pick(&[payer.endpoint, supplier.endpoint]);
        match random.below(8) {
            0 | 1 => database.pause(endpoint).await,
            2 => database.resume(endpoint).await,
            3 => resend(cluster, &mut random, cluster.chronicle.now()).await,
            4 | 5 => {
                let overlap = random.pick(&[
                    TimeDelta::zero(),
                    TimeDelta::seconds(5),
                    TimeDelta::hours(24),
                ]);
                database.rotate(&cluster.scene, endpoint, overlap).await;
            }
            6 => {
                let url = format!("{}{turn}", cluster.scene.subscriber_of(endpoint).url);
                database.move_to(endpoint, url).await;
            }
            _ => cluster.renew(some_instance(&mut random)).await,
        }
    }
}

/// Resends a delivery that was claimed before, due at this time.
pub(super) async fn resend(cluster: &Arc<Cluster>, random: &mut Random, at: Timestamp) {
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
    if cluster.database.ground().desk.resend(delivery, at).await {
        cluster.chronicle.note(Fact::Resent(delivery));
    }
}
