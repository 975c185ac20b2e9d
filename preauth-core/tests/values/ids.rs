//! Ids of records, and versions.

use preauth_core::value::{CompanyId, EventId, IntegerIdError, OperationId, UuidIdError, Version};
use proptest::prelude::*;
use uuid::Uuid;

#[test]
fn an_integer_id_is_positive() {
    assert_eq!(OperationId::new(0), None);
    assert_eq!(OperationId::new(-1), None);
    assert_eq!(
        OperationId::new(i64::MAX).map(OperationId::get),
        Some(i64::MAX)
    );
}

#[test]
fn a_number_that_is_no_id_is_distinguished_from_a_text_that_is_no_number() {
    for text in ["0", "-0", "-1", "9223372036854775808", &"9".repeat(400)] {
        assert_eq!(
            OperationId::parse(text),
            Err(IntegerIdError::OutOfRange),
            "{text}"
        );
    }
    for text in [
        "", "-", "+1", "1.0", "1e3", "0x1", " 1", "1\0", "NaN", "{id}", "1/cancel", "１",
    ] {
        assert_eq!(
            OperationId::parse(text),
            Err(IntegerIdError::NotAnInteger),
            "{text}"
        );
    }
    assert_eq!(
        OperationId::parse(&format!("{:0>30}", 1)),
        Ok(OperationId::new(1).unwrap())
    );
}

#[test]
fn a_uuid_id_takes_the_hyphenated_form_only() {
    let text = "0192f0c1-7a3b-7c4d-8e5f-60718293a4b5";
    let id = EventId::parse(text).unwrap();
    assert_eq!(id.to_string(), text);
    assert_eq!(EventId::parse(&text.to_uppercase()), Ok(id));
    for other in [
        text.replace('-', ""),
        format!("{{{text}}}"),
        format!("urn:uuid:{text}"),
        format!("{text} "),
        String::new(),
    ] {
        assert_eq!(EventId::parse(&other), Err(UuidIdError), "{other}");
    }
}

#[test]
fn a_version_starts_at_one_and_grows_by_one() {
    assert_eq!(Version::INITIAL.next().get(), 2);
    assert_eq!(Version::new(0), None);
    assert_eq!(
        Version::new(i64::MAX).map(Version::next),
        Version::new(i64::MAX)
    );
}

proptest! {
    #[test]
    fn an_id_reads_back_as_itself(number in 1..=i64::MAX, uuid in any::<u128>()) {
        let id = OperationId::new(number).unwrap();
        prop_assert_eq!(id.to_string().parse(), Ok(id));
        let version = Version::new(number).unwrap();
        prop_assert_eq!(version.to_string().parse(), Ok(version));
        let id = CompanyId::new(Uuid::from_u128(uuid));
        prop_assert_eq!(id.to_string().parse(), Ok(id));
        prop_assert_eq!(id.as_uuid().as_u128(), uuid);
    }
}
