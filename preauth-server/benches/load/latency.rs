//! The time from a create to the arrival of its event, at moderate load.

use std::time::Duration;

use crate::paced;
use crate::stage::Stage;

const PER_SECOND: u32 = 100;
const WARM_UP: Duration = Duration::from_secs(3);

pub(crate) fn run(seconds: u64) {
    let stage = Stage::new();
    let run = |time| paced::run(&stage.scene, &stage.payers, PER_SECOND, time);
    run(WARM_UP);
    let latencies = run(Duration::from_secs(seconds));
    println!("{PER_SECOND} creates a second, from the request until the event arrives, in us");
    for percent in [50, 90, 99] {
        println!("p{percent:<4}{:>9}", latencies.percentile(percent));
    }
    println!("of   {:>9} events", latencies.count());
}
