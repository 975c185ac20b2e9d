//! How many events are sent per second and what one costs, with and without the create before it.

use std::time::Duration;

use crate::clients::{self, now};
use crate::cpu;
use crate::stage::Stage;

const CLIENTS: usize = 16;
const WARM_UP: Duration = Duration::from_secs(2);

pub(crate) fn run(seconds: u64) {
    let stage = Stage::new();
    let time = Duration::from_secs(seconds);
    println!(
        "{:<28}{:>9}{:>9}{:>9}{:>9}",
        "what", "events", "per s", "CPU us", "database"
    );
    create(&stage, WARM_UP);
    measure(&stage, "create and deliver", || create(&stage, time));
    stage.pause(true);
    let waiting = clients::run(&stage.scene, CLIENTS, time).count();
    measure(&stage, "deliver what waits", || {
        let heard = stage.payers.count();
        stage.pause(false);
        stage.payers.wait_for(heard.saturating_add(size(waiting)));
        waiting
    });
}

/// Creates until `time` is over, waits until all events have arrived, and returns their number.
fn create(stage: &Stage, time: Duration) -> u64 {
    let heard = stage.payers.count();
    let created = clients::run(&stage.scene, CLIENTS, time).count();
    stage.payers.wait_for(heard.saturating_add(size(created)));
    created
}

fn measure(stage: &Stage, what: &str, work: impl FnOnce() -> u64) {
    let [server, database] = stage.processes();
    let spent = || [cpu::of(&[server, database]), cpu::of(&[database])];
    let (before, begun) = (spent(), now());
    let events = work();
    let (after, elapsed) = (spent(), begun.elapsed());
    let millis = u64::try_from(elapsed.as_millis()).unwrap();
    let rate = events.saturating_mul(1000).checked_div(millis);
    let each = |n: usize| {
        let spent = after
            .get(n)
            .unwrap()
            .saturating_sub(*before.get(n).unwrap());
        spent.checked_div(events).unwrap_or_default()
    };
    let rate = rate.unwrap_or_default();
    println!("{what:<28}{events:>9}{rate:>9}{:>9}{:>9}", each(0), each(1));
}

fn size(count: u64) -> usize {
    usize::try_from(count).unwrap()
}
