//! JSON objects that are declared once: their Rust type, their schema and their texts.
//!
//! [`answer!`] declares what the service writes and the command line reads, [`request!`] the
//! opposite. A field's comment is its description; its type decides the rest of its schema, unless
//! an example (`= …`) or a change of the schema (`=> |it| …`) follows. The type of a request's field
//! also decides how it is read, unless a reader (`; …`) follows.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::schema::{Field, Schema, optional, required};
use super::shared;

/// Whether an object is part of an answer or of a request. Only schemas of requests contain the rules of
/// values: callers must follow them, and answers follow them anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Role {
    Answer,
    Request,
}

/// A type of fields.
pub(in crate::http) trait Member {
    /// Its schema, with the words that follow the field's description.
    fn schema(role: Role) -> Schema;
}

/// An object with a name under `components/schemas`.
pub(in crate::http) trait Shape {
    const NAME: &'static str;

    fn schema() -> Schema;

    /// One page of a list of them.
    fn page() -> Schema {
        let pagination = Schema::reference("Pagination", shared::pagination());
        let has_older = Schema::boolean(
            "Whether older entries match, too, which no page has; absent when there are none.",
            false,
        );
        Schema::answer(
            "One page.",
            [
                required(
                    "data",
                    Schema::array("The entries of this page.", Schema::of::<Self>()),
                ),
                required("pagination", pagination),
                optional("hasOlder", has_older),
            ],
        )
    }
}

impl Schema {
    /// A reference to a shape.
    pub(in crate::http) fn of<T: Shape + ?Sized>() -> Self {
        Self::reference(T::NAME, T::schema())
    }

    /// A reference to the list of a shape's records, page by page.
    pub(in crate::http) fn list_of<T: Shape>() -> Self {
        Self::reference(&format!("{}List", T::NAME), T::page())
    }
}

/// An answer's text that was validated when it was stored. A reader of the answer does not validate it
/// again: earlier versions accepted texts that this one refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Text<T>(String, PhantomData<T>);

impl<T> Text<T> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: fmt::Display> From<&T> for Text<T> {
    fn from(value: &T) -> Self {
        Self(value.to_string(), PhantomData)
    }
}

/// The field `name` of Rust, as JSON spells it.
pub(in crate::http) fn field<T: Member>(role: Role, name: &str, description: &str) -> Field {
    Field {
        name: Cow::Owned(name_of(name)),
        schema: T::schema(role).described(description.trim_start()),
    }
}

/// The name of a field in JSON.
pub(in crate::http) fn name_of(field: &str) -> String {
    camel_case(field.trim_start_matches("r#"))
}

/// The fields of the included objects, and then the object's own.
pub(in crate::http) fn joined(
    bases: impl IntoIterator<Item = Vec<Field>>,
    own: impl IntoIterator<Item = Field>,
) -> Vec<Field> {
    bases.into_iter().flatten().chain(own).collect()
}

impl Field {
    pub(in crate::http) fn map(self, change: impl FnOnce(Schema) -> Schema) -> Self {
        Self {
            schema: change(self.schema),
            ..self
        }
    }
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut letters = word.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
        name
    })
}

/// Some fields of an object that was received.
pub(in crate::http) fn part<T: DeserializeOwned, E: Error>(object: &RawValue) -> Result<T, E> {
    serde_json::from_str(object.get()).map_err(E::custom)
}

/// An object of an answer. `= "Name"` puts its schema under `components`; `..name: Type` includes the
/// fields of another object.
macro_rules! answer {
    (
        $(#[$($attribute:tt)+])*
        $visible:vis struct $shape:ident $(= $name:literal)? {
            ..$base:ident: $base_type:ty,
            $($own:tt)+
        }
    ) => {
        $crate::http::openapi::shape::object! {
            Answer answer unread [::serde::Serialize]
            $(#[$($attribute)+])*
            $visible struct $shape $(= $name)? {
                ..$base: $base_type,
                $($own)+
            }
        }
        $crate::http::openapi::shape::read_parts! { $shape $base { $($own)+ } }
    };
    ($($shape:tt)*) => {
        $crate::http::openapi::shape::object! {
            Answer answer unread [::serde::Serialize, ::serde::Deserialize] $($shape)*
        }
    };
}

/// An object of a request, declared like that of an answer; its `Option`s may be absent or null.
macro_rules! request {
    ($($shape:tt)*) => {
        $crate::http::openapi::shape::object! {
            Request request read [::serde::Serialize] $($shape)*
        }
    };
}

/// An object of a request whose endpoint reads it by hand, because a rule needs more than one field or the
/// state of the service.
macro_rules! request_by_hand {
    ($($shape:tt)*) => {
        $crate::http::openapi::shape::object! {
            Request request unread [::serde::Serialize] $($shape)*
        }
    };
}

/// Reads the included object and the own fields from the same text: serde's `flatten` would convert
/// amounts to floats on the way.
macro_rules! read_parts {
    ($shape:ident $base:ident {
        $(
            $(#[doc = $doc:literal])*
            $(#[serde($($form:tt)+)])?
            $field:ident: $type:ty $(= $example:expr)? $(=> $change:expr)?
        ),* $(,)?
    }) => {
        impl<'de> ::serde::Deserialize<'de> for $shape {
            fn deserialize<D>(deserializer: D) -> Result<Self, D::Error>
            where
                D: ::serde::Deserializer<'de>,
            {
                use $crate::http::openapi::shape::part;

                #[derive(::serde::Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Own {
                    $($field: $type,)*
                }

                let object = Box::<::serde_json::value::RawValue>::deserialize(deserializer)?;
                let Own { $($field),* } = part(&object)?;
                Ok(Self { $base: part(&object)?, $($field),* })
            }
        }
    };
}

macro_rules! object {
    (
        $role:ident $kind:ident $reading:ident [$($serde:tt)+]
        $(#[doc = $about:literal])*
        $(#[derive($($derived:ident),+)])?
        $visible:vis struct $shape:ident $(= $name:literal)? {
            $(..$base:ident: $base_type:ty,)?
            $(
                $(#[doc = $doc:literal])*
                $(#[serde($($form:tt)+)])?
                $field:ident: $type:ty $(= $example:expr)? $(=> $change:expr)? $(; $read:expr)?
            ),* $(,)?
        }
    ) => {
        $(#[doc = $about])*
        #[derive($($serde)+ $(, $($derived),+)?)]
        #[serde(rename_all = "camelCase")]
        $visible struct $shape {
            $(
                #[serde(flatten)]
                pub(crate) $base: $base_type,
            )?
            $(
                $(#[doc = $doc])*
                $(#[serde($($form)+)])?
                pub(crate) $field: $type,
            )*
        }

        impl $shape {
            pub(in crate::http) fn fields() -> Vec<$crate::http::openapi::schema::Field> {
                use $crate::http::openapi::shape::{Role, field, joined};
                joined([$(<$base_type>::fields())?], [$(
                    field::<$type>(Role::$role, stringify!($field), concat!($($doc),*))
                        $(.map(|it| it.shown($example)))?
                        $(.map($change))?
                ),*])
            }

            fn object() -> $crate::http::openapi::schema::Schema {
                let about = concat!($($about),*).trim_start();
                $crate::http::openapi::schema::Schema::$kind(about, Self::fields())
            }
        }

        $crate::http::openapi::shape::object! { @member $shape $($name)? }
        $crate::http::openapi::shape::object! {
            @$reading $shape { $($field: $type $(; $read)?),* }
        }
    };
    (@unread $($shape:tt)*) => {};
    (@read $shape:ident { $($field:ident: $type:ty $(; $read:expr)?),* }) => {
        impl $crate::http::requested::RequestedObject for $shape {
            fn members(
                object: $crate::http::fields::Fields<'_>,
                problems: &mut $crate::http::fields::Problems,
            ) -> Option<Self> {
                $(let $field = $crate::http::openapi::shape::object!(@reader $type $(; $read)?)(
                    object,
                    &$crate::http::openapi::shape::name_of(stringify!($field)),
                    problems,
                );)*
                Some(Self { $($field: $field?),* })
            }
        }

        impl $crate::http::requested::Requested for $shape {
            fn read(
                object: $crate::http::fields::Fields<'_>,
                name: &str,
                problems: &mut $crate::http::fields::Problems,
            ) -> Option<Self> {
                use $crate::http::requested::RequestedObject;
                Self::members(object.object(name, problems)?, problems)
            }
        }
    };
    (@reader $type:ty) => { <$type as $crate::http::requested::Requested>::read };
    (@reader $type:ty; $read:expr) => { $crate::http::requested::reader::<$type, _>($read) };
    (@member $shape:ident) => {
        impl $crate::http::openapi::shape::Member for $shape {
            fn schema(_: $crate::http::openapi::shape::Role) -> $crate::http::openapi::schema::Schema {
                Self::object()
            }
        }
    };
    (@member $shape:ident $name:literal) => {
        impl $crate::http::openapi::shape::Shape for $shape {
            const NAME: &'static str = $name;

            fn schema() -> $crate::http::openapi::schema::Schema {
                Self::object()
            }
        }

        impl $crate::http::openapi::shape::Member for $shape {
            fn schema(_: $crate::http::openapi::shape::Role) -> $crate::http::openapi::schema::Schema {
                $crate::http::openapi::schema::Schema::of::<Self>()
            }
        }
    };
}

pub(in crate::http) use {answer, object, read_parts, request, request_by_hand};

#[cfg(test)]
mod tests {
    use preauth_core::value::Money;

    answer! {
        /// A base.
        #[derive(Debug, PartialEq, Eq)]
        struct Base {
            /// An amount.
            total_amount: Money,
        }
    }

    answer! {
        /// A base, and more.
        #[derive(Debug, PartialEq, Eq)]
        struct More {
            ..base: Base,
            /// Another amount.
            net_amount: Option<Money>,
        }
    }

    #[test]
    fn amounts_of_an_object_that_is_taken_in_are_read_exactly() {
        let more = More {
            base: Base {
                total_amount: Money::parse("90071992547409.93").unwrap(),
            },
            net_amount: None,
        };
        let json = serde_json::to_string(&more).unwrap();
        assert_eq!(
            json,
            r#"{"totalAmount":90071992547409.93,"netAmount":null}"#
        );
        assert_eq!(serde_json::from_str::<More>(&json).unwrap(), more);
        let unknown_and_absent = r#"{"new": [1], "totalAmount": 90071992547409.93}"#;
        assert_eq!(
            serde_json::from_str::<More>(unknown_and_absent).unwrap(),
            more
        );
    }
}
