//! Ids that are integers on the wire. For `#[serde(with = "…")]`, like [`text`](super::text).

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::Serializer;

use crate::value::{ExtensionId, InvoiceId, OperationId, PaymentOrderId, Version};

/// An id that consists of a positive integer.
pub(super) trait IntegerId: Copy {
    fn from_number(number: i64) -> Option<Self>;
    fn number(self) -> i64;
}

macro_rules! integer_ids {
    ($($id:ty),+) => {
        $(impl IntegerId for $id {
            fn from_number(number: i64) -> Option<Self> {
                Self::new(number)
            }

            fn number(self) -> i64 {
                self.get()
            }
        })+
    };
}

integer_ids!(OperationId, ExtensionId, PaymentOrderId, InvoiceId, Version);

pub(super) fn serialize<T, S>(id: &T, serializer: S) -> Result<S::Ok, S::Error>
where
    T: IntegerId,
    S: Serializer,
{
    serializer.serialize_i64(id.number())
}

pub(super) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: IntegerId,
    D: Deserializer<'de>,
{
    validate(i64::deserialize(deserializer)?)
}

fn validate<T: IntegerId, E: Error>(number: i64) -> Result<T, E> {
    T::from_number(number)
        .ok_or_else(|| E::custom(format_args!("expected a positive integer, found {number}")))
}

/// The same for an id that may be `null`; with `#[serde(default)]` it may also be absent.
pub(super) mod optional {
    use super::{Deserialize, Deserializer, IntegerId, Serializer, validate};

    #[expect(clippy::ref_option, reason = "serde passes the field by reference")]
    pub(in super::super) fn serialize<T, S>(
        id: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error>
    where
        T: IntegerId,
        S: Serializer,
    {
        match id {
            Some(id) => serializer.serialize_i64(id.number()),
            None => serializer.serialize_none(),
        }
    }

    pub(in super::super) fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        T: IntegerId,
        D: Deserializer<'de>,
    {
        Option::<i64>::deserialize(deserializer)?
            .map(validate)
            .transpose()
    }
}
