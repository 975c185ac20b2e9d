//! The host in memory, held to the public suite.
#![cfg(feature = "conformance")]
#![expect(
    clippy::unwrap_used,
    reason = "in a test a panic is the report of a failure"
)]

mod completeness;
mod host;
mod model;

use host::MemoryHost;

preauth_core::conformance_suite! {
    #[tokio::test]
    MemoryHost::new()
}
