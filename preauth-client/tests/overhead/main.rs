//! The overhead of a call over the HTTP library, in allocations; `benches/overhead.rs` measures the time.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "in a test a panic is the report of a failure"
)]

mod pair;

use allocation_counter::measure;

use pair::Pair;

const MAX_MORE: u64 = 10;

/// The fewest of several calls: now and then a connection allocates for itself.
fn allocations(mut call: impl FnMut()) -> u64 {
    let counts = (0..20).map(|_| measure(&mut call).count_total);
    counts.min().unwrap()
}

#[test]
fn a_call_allocates_at_most_ten_times_more_than_the_bare_library() {
    let pair = Pair::new();
    for (name, client, bare) in [
        (
            "get",
            allocations(|| pair.client_get()),
            allocations(|| pair.bare_get()),
        ),
        (
            "create",
            allocations(|| pair.client_create()),
            allocations(|| pair.bare_create()),
        ),
    ] {
        assert!(
            client <= bare + MAX_MORE,
            "{name}: {client}, the bare library {bare}"
        );
    }
}
