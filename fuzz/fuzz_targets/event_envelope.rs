//! For any webhook body: no panic, and a decoded event can be encoded and decoded again.
//!
//! The input is the body. It is also decoded as the data of an event of every type.

#![no_main]

use libfuzzer_sys::fuzz_target;
use preauth_core::value::EventType;
use preauth_core::wire::{EventData, EventEnvelope, RawEventEnvelope, from_json};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

fuzz_target!(|input: &[u8]| {
    if let Ok(event) = RawEventEnvelope::from_json(input) {
        the_envelope_survives(&event);
        the_data_survives(&event);
    }
    let raw = std::str::from_utf8(input).map(|text| RawValue::from_string(text.to_owned()));
    if let Ok(Ok(data)) = raw {
        for event_type in EventType::ALL {
            the_data_survives(&event_with(*event_type, data.clone()));
        }
    }
});

fn event_with(event_type: EventType, data: Box<RawValue>) -> RawEventEnvelope {
    EventEnvelope {
        id: "0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d0e"
            .parse()
            .expect("a uuid"),
        event_type: event_type.into(),
        created_at: "2026-11-21T12:00:00Z".parse().expect("a moment"),
        data,
    }
}

fn the_envelope_survives(event: &RawEventEnvelope) {
    let written = serde_json::to_vec(event).expect("an envelope can be written");
    let again = RawEventEnvelope::from_json(&written).expect("and read again");
    assert_eq!(again.id, event.id);
    assert_eq!(again.event_type, event.event_type);
    assert_eq!(again.created_at, event.created_at);
    assert_eq!(again.data.get(), event.data.get());
}

fn the_data_survives(event: &RawEventEnvelope) {
    match event.data() {
        Ok(EventData::Operation(data)) => survives(&*data),
        Ok(EventData::Invoice(data)) => survives(&data),
        Ok(EventData::PaymentOrder(data)) => survives(&data),
        Ok(EventData::Test(data)) => survives(&data),
        Ok(_) => assert!(event.event_type.known().is_none()),
        Err(_) => assert!(event.event_type.known().is_some()),
    }
}

fn survives<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(data: &T) {
    let written = serde_json::to_vec(data).expect("what was read can be written");
    assert_eq!(from_json::<T>(&written).as_ref().ok(), Some(data));
}
