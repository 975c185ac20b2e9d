//! The platform's staff: registers companies, makes keys, and tests endpoints.

use std::sync::Arc;

use futures_util::future::join;

use crate::clock::sleep_ms;
use crate::random::Random;
use crate::world::Cluster;

use super::creates::{Creation, create, retry_briefly};
use super::some_instance;

const CREATES: u32 = 8;
/// Few of each kind, so that keys are used again.
const OF_A_KIND: u64 = 3;

/// Creates a few records, sometimes one twice at once.
pub(super) async fn registers(cluster: &Arc<Cluster>, mut random: Random) {
    for _ in 0..CREATES {
        sleep_ms(random.below(4_000)).await;
        let creation = one(&mut random);
        let is_always_keyed = matches!(creation, Creation::Company { .. });
        if !is_always_keyed && random.chance(150) {
            create(cluster, some_instance(&mut random), &creation, false).await;
        } else if random.chance(250) {
            let first = retry_briefly(cluster, random.fork(), creation.clone());
            let second = retry_briefly(cluster, random.fork(), creation);
            join(first, second).await;
        } else {
            retry_briefly(cluster, random.fork(), creation).await;
        }
    }
}

fn one(random: &mut Random) -> Creation {
    let number = random.below(OF_A_KIND);
    match random.below(4) {
        0 | 1 => Creation::TestEvent {
            endpoint: usize::from(random.chance(500)),
            number,
        },
        2 => Creation::Company { number },
        _ => Creation::ApiKey { number },
    }
}
