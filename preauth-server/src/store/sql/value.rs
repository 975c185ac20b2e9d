//! Values bound to a statement.

use std::borrow::Cow;

use uuid::Uuid;

/// A value with its type, which it keeps when it is NULL: PostgreSQL would have to guess otherwise.
#[derive(Clone, Debug)]
pub(super) enum Value<'q> {
    Text(Option<Cow<'q, str>>),
    Blob(Option<Cow<'q, [u8]>>),
    Whole(Option<i64>),
    Flag(Option<bool>),
    Uuid(Option<Uuid>),
    Uuids(Vec<Uuid>),
    Wholes(Vec<Option<i64>>),
    Texts(Vec<String>),
}

macro_rules! values {
    ($($type:ty => $kind:ident: |$it:ident| $value:expr;)+) => {$(
        impl<'q> From<$type> for Value<'q> {
            fn from($it: $type) -> Self {
                Self::$kind(Some($value))
            }
        }

        impl<'q> From<Option<$type>> for Value<'q> {
            fn from(value: Option<$type>) -> Self {
                Self::$kind(value.map(|$it| $value))
            }
        }
    )+};
}

values! {
    &'q str => Text: |it| Cow::Borrowed(it);
    String => Text: |it| Cow::Owned(it);
    &'q String => Text: |it| Cow::Borrowed(it.as_str());
    Vec<u8> => Blob: |it| Cow::Owned(it);
    &'q [u8] => Blob: |it| Cow::Borrowed(it);
    bool => Flag: |it| it;
    i64 => Whole: |it| it;
    u32 => Whole: |it| it.into();
    u16 => Whole: |it| it.into();
    Uuid => Uuid: |it| it;
    &'q Uuid => Uuid: |it| *it;
}

impl From<Vec<Uuid>> for Value<'_> {
    fn from(ids: Vec<Uuid>) -> Self {
        Self::Uuids(ids)
    }
}

impl From<Vec<Option<i64>>> for Value<'_> {
    fn from(numbers: Vec<Option<i64>>) -> Self {
        Self::Wholes(numbers)
    }
}

impl From<Vec<String>> for Value<'_> {
    fn from(texts: Vec<String>) -> Self {
        Self::Texts(texts)
    }
}
