//! Stored forms of values. A value that was accepted once can always be read, even if the rules for
//! new values are stricter today.

use std::net::IpAddr;

use chrono::NaiveDate;
use preauth_core::access::OperatorRole;
use preauth_core::port::{DeliveryStatus, MailKind, MailStatus, Trigger};
use preauth_core::value::{
    Cnpj, CompanyKind, CompanyName, ContactName, DueDate, Email, EventType, ExternalReference,
    IdempotencyKey, InvoiceNumber, KeyName, OperatorName, Origin, PaymentOrderStatus, PersonName,
    Phone, Reason, Status,
};

use crate::hold::DeploymentId;

/// A value that is stored as text.
pub(in crate::store) trait Stored: Sized {
    /// The value, unless the text was never accepted.
    fn read(text: &str) -> Option<Self>;
}

macro_rules! stored {
    ($read:ident: $($value:ty),+ $(,)?) => {
        $(impl Stored for $value {
            fn read(text: &str) -> Option<Self> {
                $read!(text)
            }
        })+
    };
}

/// Implements `Stored` for a type whose accepted texts have never changed.
macro_rules! as_sent {
    ($text:ident) => {
        $text.parse().ok()
    };
}

/// Implements `Stored` for a type that accepted more characters in earlier builds.
macro_rules! as_once_accepted {
    ($text:ident) => {
        Self::from_stored($text).ok()
    };
}

stored! { as_sent:
    Cnpj, CompanyKind, DeliveryStatus, DeploymentId, DueDate, Email, EventType, IdempotencyKey, IpAddr,
    MailKind, MailStatus, NaiveDate, OperatorRole, Origin, PaymentOrderStatus, Status, Trigger,
}

stored! { as_once_accepted:
    CompanyName, ContactName, ExternalReference, InvoiceNumber, KeyName, OperatorName, PersonName, Phone,
    Reason,
}
