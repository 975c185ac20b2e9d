//! For any sequence of commands and pauses, through the service and the store in memory: the same
//! result as in the conformance suite's model.
//!
//! The input is a script of the conformance suite, eight bytes a step. Seeds are useless here:
//! every number is a valid step.

#![no_main]

#[path = "../../preauth-core/tests/conformance/host.rs"]
mod host;

use std::pin::pin;
use std::task::{Context, Waker};

use libfuzzer_sys::fuzz_target;
use preauth_core::conformance::model_run;

const MAX_STEPS: usize = 200;

fuzz_target!(|input: &[u8]| {
    let (numbers, _) = input.as_chunks::<8>();
    let script: Vec<u64> = numbers
        .iter()
        .take(MAX_STEPS)
        .map(|bytes| u64::from_le_bytes(*bytes))
        .collect();
    let host = host::MemoryHost::new();
    let run = pin!(model_run(&host, &script));
    // Nothing in memory ever waits.
    let outcome = run.poll(&mut Context::from_waker(Waker::noop()));
    assert!(outcome.is_ready());
});
