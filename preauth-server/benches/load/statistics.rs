//! Percentiles, ratios, and how numbers are shown.

/// 1.00 in hundredths.
const WHOLE: u64 = 100;

/// Of sorted values.
pub(crate) fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let place = sorted.len() * percent / 100;
    sorted.get(place).copied().unwrap_or_default()
}

/// `ours` in hundredths of `other`; nothing was measured if that is 0.
pub(crate) fn ratio(ours: u64, other: u64) -> u64 {
    (ours * WHOLE).checked_div(other).unwrap_or_default()
}

/// The lowest, the middle and the highest value.
pub(crate) fn spread(values: &[u64]) -> [u64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let last = sorted.len().saturating_sub(1);
    [0, last / 2, last].map(|place| sorted.get(place).copied().unwrap_or_default())
}

/// 136 is 1.36.
pub(crate) fn hundredths(value: u64) -> String {
    format!("{}.{:02}", value / WHOLE, value % WHOLE)
}

/// 12345 is 12,345.
pub(crate) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut shown = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}
