//! A healthy receiver alone and beside trouble, in pairs of runs: the ratio of their 99th
//! percentiles.

use crate::paced::Latencies;

const PAIRS: usize = 5;
/// 100%: the latency beside trouble in percent of that alone.
const WHOLE: u64 = 100;

/// Prints p50 and p99 of each run, and the median of the ratios.
pub(crate) fn compare(
    trouble: &str,
    per_second: u32,
    mut alone: impl FnMut() -> Latencies,
    mut beside: impl FnMut() -> Latencies,
) {
    println!("{per_second} creates a second; the healthy receiver's p50 and p99 in us");
    println!("{:>22}{:>22}{:>10}", "alone", trouble, "of p99");
    let mut ratios = Vec::new();
    for pair in 0..PAIRS {
        // Alternate the order, so that a change in the machine affects both runs.
        let (alone, beside) = if pair % 2 == 0 {
            let first = alone();
            (first, beside())
        } else {
            let first = beside();
            (alone(), first)
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
}

fn shown(latencies: &Latencies) -> String {
    let [p50, p99] = [50, 99].map(|percent| latencies.percentile(percent));
    format!("{:>22}", format!("{p50} {p99}"))
}

fn hundredths(ratio: u64) -> String {
    format!("{}.{:02}", ratio / WHOLE, ratio % WHOLE)
}
