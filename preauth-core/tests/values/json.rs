//! Values as JSON, with the feature `serde`.

use std::fmt::Debug;

use preauth_core::ErrorCode;
use preauth_core::value::{
    Cnpj, Decimal, DueDate, Email, EventId, EventType, IdempotencyKey, InvoiceNumber, Money,
    OperationId, PaymentOrderStatus, Scope, ScopeSet, Stage, Status, Timestamp, Version,
};
use preauth_core::wire::Open;
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

fn survives<T>(value: &T, json: &str)
where
    T: Debug + PartialEq + Serialize + DeserializeOwned,
{
    assert_eq!(serde_json::to_string(value).unwrap(), json);
    assert_eq!(&serde_json::from_str::<T>(json).unwrap(), value);
}

#[test]
fn every_kind_of_value_survives_as_the_contract_writes_it() {
    survives(&Money::parse("1234.50").unwrap(), "1234.5");
    survives(&Money::parse("0.05").unwrap(), "0.05");
    survives(&Money::parse("10000000").unwrap(), "10000000");
    survives(&Decimal::parse_json_number("0.005").unwrap(), "0.005");
    survives(&OperationId::new(1042).unwrap(), "1042");
    survives(&Version::INITIAL, "1");
    let event = "\"0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d0e\"";
    survives(&EventId::parse(event.trim_matches('"')).unwrap(), event);
    survives(
        &Cnpj::parse("12.abc.345/01de-35").unwrap(),
        "\"12ABC34501DE35\"",
    );
    survives(&DueDate::parse("2026-12-21").unwrap(), "\"2026-12-21\"");
    survives(
        &Timestamp::parse("2026-11-21T12:00:00Z").unwrap(),
        "\"2026-11-21T12:00:00.000Z\"",
    );
    survives(&Email::parse("a@example.com").unwrap(), "\"a@example.com\"");
    survives(&"NF-1".parse::<InvoiceNumber>().unwrap(), "\"NF-1\"");
    survives(
        &"pedido-1".parse::<IdempotencyKey>().unwrap(),
        "\"pedido-1\"",
    );
    let scopes: ScopeSet = [Scope::PreauthWrite, Scope::PreauthRead]
        .into_iter()
        .collect();
    survives(&scopes, r#"["preauth:read","preauth:write"]"#);
}

#[test]
fn every_member_of_every_closed_set_is_its_text() {
    fn each<T: preauth_core::value::TextEnum + Serialize + DeserializeOwned>() {
        for member in T::ALL {
            survives(member, &format!("\"{}\"", member.as_str()));
        }
    }
    each::<Status>();
    each::<Stage>();
    each::<EventType>();
    each::<PaymentOrderStatus>();
    each::<ErrorCode>();
}

#[test]
fn an_unknown_status_is_an_error_where_the_set_is_closed_and_kept_where_it_is_open() {
    let closed = serde_json::from_str::<Status>("\"ON_HOLD\"").unwrap_err();
    assert!(closed.to_string().contains("status"), "{closed}");
    survives(&Open::<Status>::from("ON_HOLD"), "\"ON_HOLD\"");
}

#[test]
fn text_that_a_value_refuses_is_refused_as_json() {
    for json in ["1.005", "-1", "\"500\"", "null"] {
        assert!(serde_json::from_str::<Money>(json).is_err(), "{json}");
    }
    for json in ["0", "-1", "1.5", "\"1\""] {
        assert!(serde_json::from_str::<OperationId>(json).is_err(), "{json}");
    }
    assert!(serde_json::from_str::<Cnpj>("\"12ABC34501DE36\"").is_err());
    assert!(serde_json::from_str::<DueDate>("\"2026-02-30\"").is_err());
    assert!(serde_json::from_str::<ScopeSet>("[\"preauth:everything\"]").is_err());
}

/// An ERP's own record of an operation.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Row {
    id: OperationId,
    status: Open<Status>,
    amount: Money,
    withheld: Option<Money>,
}

proptest! {
    #[test]
    fn a_record_of_values_survives(id in 1..=i64::MAX, cents in 0..=i64::MAX, status in "[A-Z_]{1,20}") {
        let row = Row {
            id: OperationId::new(id).unwrap(),
            status: status.as_str().into(),
            amount: Money::from_cents(cents).unwrap(),
            withheld: None,
        };
        let json = serde_json::to_string(&row).unwrap();
        prop_assert_eq!(serde_json::from_str::<Row>(&json).unwrap(), row);
    }
}
