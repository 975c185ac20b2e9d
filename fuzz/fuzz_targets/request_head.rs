//! The head of a request means the same to our parser and to the HTTP library that reads the same
//! bytes afterwards; or one of the two refuses it.
//!
//! The input is a head and the bytes after it on the connection.

#![no_main]

#[path = "../../preauth-server/src/http/server/head/reading.rs"]
mod reading;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use preauth_server::http::server::head::{BodyLength, end_of_head, read};
use tokio::runtime::{Builder, Runtime};

/// Shared by all inputs: building it takes longer than reading one.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let runtime = Builder::new_current_thread().build();
    runtime.expect("a runtime")
});

fuzz_target!(|input: &[u8]| {
    let Some(end) = end_of_head(input, 0) else {
        return;
    };
    for seen in 0..end.min(64) {
        assert_eq!(end_of_head(input, seen), Some(end));
    }
    let (whole, _) = input.split_at(end);
    let head = read(whole);
    if head.flaw.is_some() {
        return;
    }
    let Some(reading) = RUNTIME.block_on(reading::reading_of(whole)) else {
        return;
    };
    assert_eq!(reading.method.as_bytes(), head.method);
    assert!(reading.has_target(head.target), "{reading:?}");
    assert_eq!(reading.header_count, head.header_count);
    let length = match head.body {
        BodyLength::Bytes(bytes) => Some(bytes),
        BodyLength::Chunked => None,
    };
    assert_eq!(reading.length, length);
});
