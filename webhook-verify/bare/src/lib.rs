//! A program without `std` that verifies and signs. The standard library brings a panic handler of
//! its own, and a second one is an error: if the verifier or what it needs linked `std`, this would
//! not compile.

#![no_std]

extern crate alloc;

use alloc::string::String;
use core::panic::PanicInfo;

use webhook_verify::{Secret, SignError, Verifier, sign};

/// Whether a delivery is authentic, by the caller's clock.
pub fn is_genuine(secret: Secret, header: &[u8], body: &[u8], now_unix_seconds: i64) -> bool {
    let verifier = Verifier::new(secret);
    verifier
        .verify(Some(header), body, now_unix_seconds)
        .is_ok()
}

/// The header of a delivery.
pub fn header(secret: Secret, body: &[u8], now_unix_seconds: i64) -> Result<String, SignError> {
    sign(&[secret], now_unix_seconds, body)
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
