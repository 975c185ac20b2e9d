//! For any answer the client gets: no panic, and a decoded value can be encoded and decoded again.
//!
//! The input is the body of an answer.

#![no_main]

use libfuzzer_sys::fuzz_target;
use preauth_core::wire::{ErrorBody, PreAuthorization, PreAuthorizationList, from_json};
use serde::Serialize;
use serde::de::DeserializeOwned;

fuzz_target!(|input: &[u8]| {
    survives::<PreAuthorization>(input);
    survives::<PreAuthorizationList>(input);
    survives::<ErrorBody>(input);
});

fn survives<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(body: &[u8]) {
    if let Ok(read) = from_json::<T>(body) {
        let written = serde_json::to_vec(&read).expect("what was read can be written");
        assert_eq!(from_json::<T>(&written).ok(), Some(read));
    }
}
