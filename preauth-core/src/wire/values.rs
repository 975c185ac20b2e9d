//! The serde implementations of the values, in the JSON form of the contract (feature `serde`).

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;
use std::marker::PhantomData;

use super::{Amount, number, text};
use crate::ErrorCode;
use crate::value::{
    ApiKeyId, Cnpj, CompanyId, CompanyKind, CompanyName, ContactName, Decimal, DeliveryId, DueDate,
    Email, EndpointId, EnumSet, EventId, EventType, ExtensionId, ExternalReference, Family,
    IdempotencyKey, InvoiceId, InvoiceNumber, KeyName, MailId, Money, OperationId, OperatorId,
    OperatorName, Origin, PaymentOrderId, PaymentOrderStatus, Permission, PersonName, Phone,
    Reason, RequestId, Scope, Stage, Status, SupplierName, SuppressionId, TextEnum, Timestamp,
    UserId, Version,
};

/// Strings, read by the value's own rules.
macro_rules! texts {
    ($($value:ty),+ $(,)?) => {
        $(impl Serialize for $value {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                text::serialize(self, serializer)
            }
        }

        impl<'de> Deserialize<'de> for $value {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                text::deserialize(deserializer)
            }
        })+
    };
}

texts!(Cnpj, DueDate, Email, IdempotencyKey, Timestamp);
texts!(
    CompanyName,
    ContactName,
    ExternalReference,
    InvoiceNumber,
    KeyName,
    OperatorName,
    PersonName,
    Phone,
    Reason,
    SupplierName,
);
texts!(
    ApiKeyId,
    CompanyId,
    DeliveryId,
    EndpointId,
    EventId,
    MailId,
    OperatorId,
    RequestId,
    SuppressionId,
    UserId
);
// An unknown text is an error here; `Open` keeps it.
texts!(
    CompanyKind,
    ErrorCode,
    EventType,
    Family,
    Origin,
    PaymentOrderStatus,
    Permission,
    Scope,
    Stage,
    Status,
);

/// Positive integers.
macro_rules! numbers {
    ($($value:ty),+ $(,)?) => {
        $(impl Serialize for $value {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                number::serialize(self, serializer)
            }
        }

        impl<'de> Deserialize<'de> for $value {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                number::deserialize(deserializer)
            }
        })+
    };
}

numbers!(OperationId, ExtensionId, PaymentOrderId, InvoiceId, Version);

/// A number of at most two decimals, exact in both directions, like [`Amount`].
impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Amount(*self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Amount::deserialize(deserializer).map(Amount::money)
    }
}

/// A number with all its digits; with `serde_json` only, like [`Amount`].
impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.to_string())
            .map_err(S::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse_json_number(number.get()).map_err(D::Error::custom)
    }
}

/// An array of texts, in the order of the contract.
impl<T: TextEnum> Serialize for EnumSet<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(TextEnum::as_str))
    }
}

impl<'de, T: TextEnum + Deserialize<'de>> Deserialize<'de> for EnumSet<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(SetVisitor(PhantomData))
    }
}

struct SetVisitor<T>(PhantomData<T>);

impl<'de, T: TextEnum + Deserialize<'de>> Visitor<'de> for SetVisitor<T> {
    type Value = EnumSet<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of texts")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut set = EnumSet::new();
        while let Some(member) = members.next_element()? {
            set.insert(member);
        }
        Ok(set)
    }
}
