//! Contestants take turns in short batches, so that whatever else the machine does hits all alike:
//! each round has a ratio of its own, and the median of these is reported.

use std::time::{Duration, Instant};

const ROUNDS: usize = 1_001;
/// Long beside a look at the clock, short beside what the scheduler gives to others.
const BATCH: Duration = Duration::from_micros(500);

/// Somebody who verifies one delivery.
pub(crate) struct Contestant<'d> {
    name: &'static str,
    verify: Box<dyn Fn() -> bool + 'd>,
}

impl<'d> Contestant<'d> {
    /// `verify` returns whether the delivery was accepted, which it must be.
    pub(crate) fn new(name: &'static str, verify: impl Fn() -> bool + 'd) -> Self {
        let verify = Box::new(verify);
        Self { name, verify }
    }

    /// Nanoseconds that `count` verifications take.
    fn batch_ns(&self, count: u32) -> u64 {
        let begun = now();
        for _ in 0..count {
            assert!((self.verify)(), "{} refuses a genuine delivery", self.name);
        }
        u64::try_from(begun.elapsed().as_nanos()).unwrap()
    }
}

/// Prints how long each takes, and its ratio to the first.
#[expect(clippy::print_stdout, reason = "the figures are the outcome")]
pub(crate) fn run(title: &str, contestants: &[Contestant<'_>]) {
    let counts: Vec<u32> = contestants.iter().map(batch_size).collect();
    let mut each_ps = vec![Vec::new(); contestants.len()];
    for round in 0..ROUNDS {
        for turn in 0..contestants.len() {
            // Nobody always comes after the same one.
            let at = round.wrapping_add(turn) % contestants.len();
            let (Some(one), Some(&count)) = (contestants.get(at), counts.get(at)) else {
                continue;
            };
            let ps = one.batch_ns(count).saturating_mul(1_000) / u64::from(count);
            each_ps.get_mut(at).unwrap().push(ps);
        }
    }
    println!("{title:<28} {:>12} {:>10}", "ns", "x the floor");
    let floor = each_ps.first().cloned().unwrap_or_default();
    for (one, ps) in contestants.iter().zip(each_ps) {
        let in_round = ps.iter().zip(&floor);
        let ratios = in_round.map(|(own, floor)| own.saturating_mul(1_000) / (*floor).max(1));
        let ratio = median(ratios.collect());
        let ns = median(ps) / 1_000;
        println!(
            "{:<28} {ns:>12} {:>6}.{:03}",
            one.name,
            ratio / 1_000,
            ratio % 1_000
        );
    }
}

/// How many verifications fill a batch.
fn batch_size(one: &Contestant<'_>) -> u32 {
    let batch_ns = u64::try_from(BATCH.as_nanos()).unwrap();
    // The first ones pay for cold caches.
    let per_64_ns = (0..8).map(|_| one.batch_ns(64)).min().unwrap_or(1).max(1);
    let count = batch_ns.saturating_mul(64) / per_64_ns;
    u32::try_from(count).unwrap().max(1)
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn now() -> Instant {
    Instant::now()
}
