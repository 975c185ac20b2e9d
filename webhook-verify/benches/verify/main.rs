//! The verifier beside the HMAC that it cannot do without, in one run (see docs/benchmarks.md).
//!
//! ```text
//! cargo bench -p webhook-verify [--features aws-lc-rs]
//! ```
//!
//! Other libraries take part in `benches/others`, a workspace of its own.
#![expect(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    reason = "a benchmark that cannot go on panics"
)]

mod contestants;
mod race;

use contestants::{Delivery, floor, ours};

/// Bytes of a body: an event as they are, and a large one.
const BODY_BYTES: [usize; 2] = [1024, 64 * 1024];

fn main() {
    // A run of all tests starts benchmarks, too.
    if !std::env::args().any(|it| it == "--bench") {
        return;
    }
    for bytes in BODY_BYTES {
        let delivery = Delivery::of(bytes);
        let contestants = [floor(&delivery), ours(&delivery)];
        race::run(&format!("{bytes} bytes"), &contestants);
    }
}
