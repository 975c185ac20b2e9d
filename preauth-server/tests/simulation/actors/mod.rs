//! All actors of a run, concurrently.

mod auditor;
mod clock_hand;
mod clock_setter;
mod creates;
mod erp;
mod invoices;
mod meddler;
mod payments;
mod platform;
mod promoter;
mod reader;
mod registrar;

use std::sync::Arc;

use futures_util::future::{BoxFuture, join_all};

use crate::random::Random;
use crate::world::{Cluster, INSTANCES};

pub(crate) use creates::{Creation, create, shown_id};
pub(crate) use erp::{cancel, created_id, offer};
pub(crate) use reader::{Cursors, read_the_rest};

const CALLERS: usize = 3;
const PEOPLE: usize = 2;
/// Those who register companies and make keys.
const STAFF: usize = 2;

/// The instance that answers the final repetitions of all requests.
pub(crate) const INSTANCE_FOR_LAST_QUESTIONS: usize = 0;

/// Runs all actors to their end.
pub(crate) async fn play(cluster: &Arc<Cluster>, random: &mut Random) {
    let mut everybody: Vec<BoxFuture<'_, ()>> = Vec::new();
    for _ in 0..CALLERS {
        everybody.push(Box::pin(erp::calls(cluster, random.fork())));
    }
    for _ in 0..PEOPLE {
        everybody.push(Box::pin(platform::acts(cluster, random.fork())));
    }
    everybody.push(Box::pin(platform::follows(cluster, random.fork())));
    everybody.push(Box::pin(payments::pays(cluster, random.fork())));
    everybody.push(Box::pin(invoices::arrive(cluster, random.fork())));
    everybody.push(Box::pin(clock_hand::moves(cluster, random.fork())));
    everybody.push(Box::pin(meddler::meddles(cluster, random.fork())));
    everybody.push(Box::pin(clock_setter::sets(cluster, random.fork())));
    everybody.push(Box::pin(promoter::promotes(cluster, random.fork())));
    everybody.push(Box::pin(auditor::audits(cluster, random.fork())));
    let leftovers = clock_hand::leaves_times_ahead(cluster, random.fork());
    everybody.push(Box::pin(leftovers));
    for _ in 0..STAFF {
        everybody.push(Box::pin(registrar::registers(cluster, random.fork())));
    }
    everybody.push(Box::pin(reader::reads(cluster, random.fork())));
    join_all(everybody).await;
}

fn some_instance(random: &mut Random) -> usize {
    let count = u64::try_from(INSTANCES).unwrap();
    usize::try_from(random.below(count)).unwrap()
}
