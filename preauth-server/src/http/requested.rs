//! Reads the objects that [`request!`](super::openapi::shape::request) declares: a field has the name
//! of the declaration, and its type decides how it is read.

use preauth_core::value::{
    Cnpj, CompanyId, CompanyKind, CompanyName, DueDate, Email, EnumSet, ExternalReference,
    InvoiceNumber, KeyName, Money, OperationId, OperatorName, PersonName, Reason, TextEnum,
    Timestamp, UserId,
};
use preauth_core::wire::Open;

use super::fields::{Fields, Problems, one_of};
use super::json::Json;
use super::problem::{Defect, Problem};

const MAX_OPERATION_ID: u64 = i64::MAX.unsigned_abs();

/// A value in a field of a request.
pub(super) trait Requested: Sized {
    /// Reads the required field `name`, and reports its problems.
    fn read(object: Fields<'_>, name: &str, problems: &mut Problems) -> Option<Self>;
}

/// An object of a request.
pub(super) trait RequestedObject: Sized {
    /// Reads every field, and reports every problem.
    fn members(object: Fields<'_>, problems: &mut Problems) -> Option<Self>;

    /// Reads a body.
    fn parse(tree: &Json) -> Result<Self, Vec<Problem>> {
        body(tree, Self::members)
    }
}

/// For endpoints that ignore the body.
impl RequestedObject for () {
    fn members(_: Fields<'_>, _: &mut Problems) -> Option<Self> {
        Some(())
    }
}

/// Reads a body, whose problems `read` reports.
pub(super) fn body<T>(
    tree: &Json,
    read: impl FnOnce(Fields<'_>, &mut Problems) -> Option<T>,
) -> Result<T, Vec<Problem>> {
    let mut problems = Problems::default();
    let body = Fields::body(tree, &mut problems);
    let value = body.and_then(|body| read(body, &mut problems));
    problems.unless_any(value)
}

/// Gives a closure the type of a reader.
pub(super) fn reader<T, F>(read: F) -> F
where
    F: FnOnce(Fields<'_>, &str, &mut Problems) -> Option<T>,
{
    read
}

/// Reads a whole number within bounds.
pub(super) fn whole<T: TryFrom<u64> + Into<u64>>(
    min: T,
    max: T,
) -> impl FnOnce(Fields<'_>, &str, &mut Problems) -> Option<T> {
    move |object, name, problems| {
        let number = object.whole(name, min.into(), max.into(), problems)?;
        number.try_into().ok()
    }
}

/// Reads a value that may be absent or null.
pub(super) fn optional<T>(
    read: impl FnOnce(Fields<'_>, &str, &mut Problems) -> Option<T>,
) -> impl FnOnce(Fields<'_>, &str, &mut Problems) -> Option<Option<T>> {
    move |object, name, problems| {
        if object.has(name) {
            read(object, name, problems).map(Some)
        } else {
            Some(None)
        }
    }
}

impl<T: Requested> Requested for Option<T> {
    fn read(object: Fields<'_>, name: &str, problems: &mut Problems) -> Option<Self> {
        optional(T::read)(object, name, problems)
    }
}

/// Values that are read by one expression.
macro_rules! read {
    ($($($type:ty),+ => |$object:ident, $name:ident, $problems:ident| $read:expr;)+) => {
        $($(impl Requested for $type {
            fn read($object: Fields<'_>, $name: &str, $problems: &mut Problems) -> Option<Self> {
                $read
            }
        })+)+
    };
}

read! {
    Cnpj, CompanyId, CompanyName, DueDate, Email, ExternalReference, InvoiceNumber, KeyName, OperatorName,
    PersonName, Reason, Timestamp, UserId => |object, name, problems| object.text(name, Self::parse, problems);
    String => |object, name, problems| {
        object.text(name, |text| Ok::<_, Defect>(text.to_owned()), problems)
    };
    CompanyKind => |object, name, problems| object.text(name, one_of(Self::ALL), problems);
    OperationId => |object, name, problems| {
        let id = object.whole(name, 1, MAX_OPERATION_ID, problems)?;
        Self::new(id.try_into().ok()?)
    };
    Money => |object, name, problems| object.money(name, problems);
    bool => |object, name, problems| object.boolean(name, problems);
}

impl<T: TextEnum> Requested for Open<T> {
    fn read(object: Fields<'_>, name: &str, problems: &mut Problems) -> Option<Self> {
        let member = object.text(name, one_of(T::ALL), problems);
        member.map(Self::Known)
    }
}

/// An empty list is accepted, because it is explicit; an absent one is probably an oversight.
impl<T: TextEnum> Requested for EnumSet<T> {
    fn read(object: Fields<'_>, name: &str, problems: &mut Problems) -> Option<Self> {
        object.set(name, T::ALL, problems)
    }
}
