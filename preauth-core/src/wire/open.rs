//! Enums that a reader outside the service must keep open for unknown members.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::value::TextEnum;

/// A member of an enum, or the text of a member that this version does not know.
///
/// [Contract, "Versioning"](https://example.com/preauth/blob/main/docs/reference.md#versioning):
/// a new status, stage, event type or error code may appear within v1, and
/// readers must accept it. An unknown text is therefore not an error; it is kept and written back.
///
/// Build it with [`From`], which finds the member: an `Unknown` with the text of a known member is not
/// equal to any value that was read.
///
/// ```
/// use preauth_core::value::Status;
/// use preauth_core::wire::Open;
///
/// let known: Open<Status> = serde_json::from_str(r#""TO_PAY""#)?;
/// assert_eq!(known, Status::ToPay);
///
/// let newer: Open<Status> = serde_json::from_str(r#""ON_HOLD""#)?;
/// assert_eq!((newer.known(), newer.as_str()), (None, "ON_HOLD"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Open<T> {
    /// A member that this version knows.
    Known(T),
    /// The text of a member that is newer than this version.
    Unknown(String),
}

impl<T: TextEnum> Open<T> {
    /// The text, as in JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(member) => (*member).as_str(),
            Self::Unknown(text) => text,
        }
    }

    /// The member; `None` if this version does not know it.
    #[must_use]
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(member) => Some(member),
            Self::Unknown(_) => None,
        }
    }

    fn member(text: &str) -> Option<Self> {
        T::ALL
            .iter()
            .find(|member| (**member).as_str() == text)
            .map(|member| Self::Known(*member))
    }
}

impl<T: TextEnum> From<T> for Open<T> {
    fn from(member: T) -> Self {
        Self::Known(member)
    }
}

impl<T: TextEnum> From<&str> for Open<T> {
    fn from(text: &str) -> Self {
        Self::member(text).unwrap_or_else(|| Self::Unknown(text.to_owned()))
    }
}

impl<T: TextEnum> From<String> for Open<T> {
    fn from(text: String) -> Self {
        Self::member(&text).unwrap_or(Self::Unknown(text))
    }
}

impl<T: TextEnum> PartialEq<T> for Open<T> {
    fn eq(&self, member: &T) -> bool {
        self.known() == Some(member)
    }
}

impl<T: TextEnum> fmt::Display for Open<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<T: TextEnum> Serialize for Open<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de, T: TextEnum> Deserialize<'de> for Open<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(OpenVisitor(PhantomData))
    }
}

struct OpenVisitor<T>(PhantomData<T>);

impl<T: TextEnum> Visitor<'_> for OpenVisitor<T> {
    type Value = Open<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Open::from(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Open::from(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorCode;
    use crate::value::{EventType, Origin, PaymentOrderStatus, Stage, Status};

    fn every_member_survives<T: TextEnum>() {
        for member in T::ALL {
            let json = serde_json::to_string(&Open::Known(*member)).unwrap();
            let back: Open<T> = serde_json::from_str(&json).unwrap();
            assert_eq!(back, Open::Known(*member));
        }
    }

    #[test]
    fn every_member_of_every_set_is_recognised() {
        every_member_survives::<Status>();
        every_member_survives::<EventType>();
        every_member_survives::<Origin>();
        every_member_survives::<Stage>();
        every_member_survives::<ErrorCode>();
        every_member_survives::<PaymentOrderStatus>();
    }

    #[test]
    fn an_unknown_text_is_kept_and_written_back() {
        for json in [
            r#""ON_HOLD""#,
            r#""in_pre_auth""#,
            r#""""#,
            r#""caf\u00e9 \"x\"""#,
        ] {
            let open: Open<Status> = serde_json::from_str(json).unwrap();
            let text: String = serde_json::from_str(json).unwrap();
            assert_eq!(open, Open::Unknown(text.clone()));
            assert_eq!(
                serde_json::to_value(&open).unwrap(),
                serde_json::Value::String(text)
            );
        }
    }

    #[test]
    fn only_strings_are_read() {
        for json in ["null", "1", "true", "[]", "{}"] {
            assert!(
                serde_json::from_str::<Open<Status>>(json).is_err(),
                "{json}"
            );
        }
    }
}
