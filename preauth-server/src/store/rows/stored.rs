//! Values as columns hold them: what was accepted once is read back, whatever is accepted today.

use chrono::NaiveDate;
use preauth_core::port::{NoticeKind, NoticeStatus as AuditedNoticeStatus};
use preauth_core::value::{
    Cnpj, CompanyName, ContactName, DueDate, Email, EventType, ExternalReference, IdempotencyKey,
    InvoiceNumber, KeyName, Origin, PaymentOrderStatus, PersonName, Phone, Reason, Status,
};

use crate::directory::{CompanyKind, DeliveryStatus, NoticeStatus};
use crate::hold::DeploymentId;

/// A value that a text column holds.
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

/// What is accepted never changes.
macro_rules! as_sent {
    ($text:ident) => {
        $text.parse().ok()
    };
}

/// Fewer characters are accepted than once were.
macro_rules! as_once_accepted {
    ($text:ident) => {
        Self::from_stored($text).ok()
    };
}

stored! { as_sent:
    Cnpj, CompanyKind, DeliveryStatus, DeploymentId, DueDate, Email, EventType, IdempotencyKey,
    AuditedNoticeStatus, NaiveDate, NoticeKind, NoticeStatus, Origin, PaymentOrderStatus, Status,
}

stored! { as_once_accepted:
    CompanyName, ContactName, ExternalReference, InvoiceNumber, KeyName, PersonName, Phone, Reason,
}
