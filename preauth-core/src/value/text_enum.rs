//! Enums whose members have exactly one text each in JSON and in storage.

use std::fmt::Debug;
use std::hash::Hash;

/// The operations of every text enum, for code that is generic over them.
///
/// Each type also has these items as inherent ones, so this trait need not be in scope.
pub trait TextEnum: Copy + Debug + Eq + Hash + Ord + 'static {
    /// Every member, in the order of the contract.
    const ALL: &'static [Self];

    /// The text of this member.
    fn as_str(self) -> &'static str;
}

/// The error for a text that is not the text of any member. Texts are compared exactly, case included.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown {set}; expected one of {}", expected.trim_end_matches(", "))]
pub struct UnknownText {
    /// The kind of value that was read, for example `status`.
    pub set: &'static str,
    /// The known texts, each followed by a comma.
    #[doc(hidden)]
    pub expected: &'static str,
}

crate::explained::explained!(UnknownText);

/// Declares an enum whose members have one text each, with `ALL`, `as_str`, `parse`, `Display` and
/// `FromStr` derived from the table.
#[macro_export]
macro_rules! text_enum {
    (
        $(#[$enum_meta:meta])*
        $vis:vis enum $name:ident, $set:literal {
            $( $(#[$meta:meta])* $variant:ident => $text:literal, )+
        }
    ) => {
        $(#[$enum_meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name {
            $( $(#[$meta])* #[doc = concat!("\n\nText: `", $text, "`.")] $variant, )+
        }

        impl $name {
            /// Every member, in the order of the contract.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )+];

            /// The text of this member, as used in JSON and in storage.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $text, )+
                }
            }

            /// Reads a member from its exact text, case included.
            pub fn parse(text: &str) -> Result<Self, $crate::value::UnknownText> {
                match text {
                    $( $text => Ok(Self::$variant), )+
                    _ => Err($crate::value::UnknownText {
                        set: $set,
                        expected: concat!($($text, ", ",)+),
                    }),
                }
            }
        }

        impl $crate::value::TextEnum for $name {
            const ALL: &'static [Self] = Self::ALL;

            fn as_str(self) -> &'static str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::value::UnknownText;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }
    };
}

pub(crate) use text_enum;
