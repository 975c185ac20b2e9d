//! The texts that every value accepts and refuses: the shared vectors, the bounds, and properties.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "in a test a panic is the report of a failure"
)]

mod closed_sets;
mod decimals;
mod due_dates;
mod emails;
mod errors;
mod idempotency_keys;
mod ids;
#[cfg(feature = "serde")]
mod json;
mod money;
mod tax_ids;
mod timestamps;
mod vectors;
