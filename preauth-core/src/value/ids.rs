//! Identifiers: one type per kind of record, so that ids of different kinds cannot be confused.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;
use uuid::fmt::Hyphenated;

/// Why a text is not an integer id. The two cases are distinguished because the contract answers them
/// differently: a text that is not a number is an invalid request, and a number that no record can have
/// is an id that was not found.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum IntegerIdError {
    /// Not an integer in ASCII digits.
    #[error("the id is not an integer such as 1042")]
    NotAnInteger,
    /// An integer that no record can have: zero, negative, or beyond 64 bits.
    #[error("the id is zero, negative or beyond 64 bits; expected a positive integer such as 1042")]
    OutOfRange,
}

crate::explained::explained!(IntegerIdError);

/// A text that is not a hyphenated UUID.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the id is not a hyphenated uuid such as 0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d0e")]
pub struct UuidIdError;

crate::explained::explained!(UuidIdError);

macro_rules! integer_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(i64);

        impl $name {
            /// The id with this number; `None` unless it is positive.
            #[must_use]
            pub const fn new(number: i64) -> Option<Self> {
                if number > 0 { Some(Self(number)) } else { None }
            }

            /// Reads an id. Leading zeros are ignored; a plus sign is refused.
            pub fn parse(text: &str) -> Result<Self, IntegerIdError> {
                let number = parse_integer(text)?;
                Self::new(number).ok_or(IntegerIdError::OutOfRange)
            }

            /// The number.
            #[must_use]
            pub const fn get(self) -> i64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = IntegerIdError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }
    };
}

integer_id! {
    /// The number of an operation: `id` in the API, `anticipationId` in webhooks.
    OperationId
}

integer_id! {
    /// The number of a boleto extension: `extension.id` in webhooks.
    ExtensionId
}

integer_id! {
    /// The number of a payment order.
    PaymentOrderId
}

integer_id! {
    /// The number of an invoice received on the platform.
    InvoiceId
}

macro_rules! uuid_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// The id with this UUID.
            #[must_use]
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// Reads the hyphenated form of 36 characters, upper or lower case.
            pub fn parse(text: &str) -> Result<Self, UuidIdError> {
                text.parse::<Hyphenated>()
                    .map(|hyphenated| Self(hyphenated.into_uuid()))
                    .map_err(|_| UuidIdError)
            }

            /// The UUID.
            #[must_use]
            pub const fn as_uuid(&self) -> &Uuid {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self.0.as_hyphenated(), f)
            }
        }

        impl FromStr for $name {
            type Err = UuidIdError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }
    };
}

uuid_id! {
    /// The id of a company: payer, branch or supplier.
    CompanyId
}

uuid_id! {
    /// The id of a user of a company.
    UserId
}

uuid_id! {
    /// The id of an API key; never part of the key itself.
    ApiKeyId
}

uuid_id! {
    /// The id of an operator of the platform.
    OperatorId
}

uuid_id! {
    /// The id of a company's webhook endpoint.
    EndpointId
}

uuid_id! {
    /// The id of an event, by which receivers deduplicate: the same on every attempt and resend, and
    /// for every recipient.
    EventId
}

uuid_id! {
    /// The id of the delivery of one event to one endpoint.
    DeliveryId
}

uuid_id! {
    /// The id of one request, echoed in `X-Request-Id`.
    RequestId
}

uuid_id! {
    /// The id of a mail, which is sent once.
    MailId
}

uuid_id! {
    /// The id of an entry in the list of addresses that are sent no mails.
    SuppressionId
}

/// The number of times a record was written, for writes that must not overwrite a newer state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(i64);

impl Version {
    /// The version of a record that was just created.
    pub const INITIAL: Self = Self(1);

    /// The version with this number; `None` below 1.
    #[must_use]
    pub const fn new(number: i64) -> Option<Self> {
        if number >= 1 {
            Some(Self(number))
        } else {
            None
        }
    }

    /// The version after this one. It saturates at the maximum, which no record reaches in practice.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for Version {
    type Err = IntegerIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(parse_integer(text)?).ok_or(IntegerIdError::OutOfRange)
    }
}

fn parse_integer(text: &str) -> Result<i64, IntegerIdError> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(IntegerIdError::NotAnInteger);
    }
    text.parse().map_err(|_| IntegerIdError::OutOfRange)
}
