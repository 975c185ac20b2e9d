//! A healthy receiver, first alone, then beside one that takes five seconds for every answer.

use std::time::Duration;

use crate::paced::{self, Latencies};
use crate::receiver::Receiver;
use crate::stage::Stage;

const PER_SECOND: u32 = 200;
const SLOWNESS: Duration = Duration::from_secs(5);
const WARM_UP: Duration = Duration::from_secs(3);
const PAIRS: usize = 5;
/// 100%: the rate beside the slow receiver in percent of the rate alone.
const WHOLE: u64 = 100;

pub(crate) fn run(seconds: u64) {
    let stage = Stage::new();
    let slow = Receiver::start(SLOWNESS);
    let time = Duration::from_secs(seconds);
    let run = |time| paced::run(&stage.scene, &stage.payers, PER_SECOND, time);
    run(WARM_UP);
    println!("{PER_SECOND} creates a second; the healthy receiver's p50 and p99 in us");
    println!("{:>22}{:>22}{:>10}", "alone", "beside a slow one", "of p99");
    let mut ratios = Vec::new();
    for pair in 0..PAIRS {
        let alone = |stage: &Stage| {
            stage.delete_endpoint("supplier");
            run(time)
        };
        let beside = |stage: &Stage| {
            stage.register_endpoint("supplier", &slow);
            run(time)
        };
        // Alternate the order, so that a change in the machine affects both runs.
        let (alone, beside) = if pair % 2 == 0 {
            let first = alone(&stage);
            (first, beside(&stage))
        } else {
            let first = beside(&stage);
            (alone(&stage), first)
        };
        let scaled = beside.percentile(99).saturating_mul(WHOLE);
        let ratio = scaled.checked_div(alone.percentile(99)).unwrap_or_default();
        println!(
            "{}{}{:>10}",
            shown(&alone),
            shown(&beside),
            hundredths(ratio)
        );
        ratios.push(ratio);
    }
    ratios.sort_unstable();
    let median = ratios.get(PAIRS / 2).copied().unwrap_or_default();
    println!("median of the ratios: {}", hundredths(median));
    println!("the slow one has heard of {} events", slow.count());
}

fn shown(latencies: &Latencies) -> String {
    let [p50, p99] = [50, 99].map(|percent| latencies.percentile(percent));
    format!("{:>22}", format!("{p50} {p99}"))
}

fn hundredths(ratio: u64) -> String {
    format!("{}.{:02}", ratio / WHOLE, ratio % WHOLE)
}
