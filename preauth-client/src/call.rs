//! The calls of the API.

use std::fmt;

/// One of the calls of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Call {
    /// Offering an advance.
    Create,
    /// Offering many advances.
    CreateMany,
    /// Trying an offer.
    Validate,
    /// Reading one operation.
    Get,
    /// Reading one page of operations.
    List,
    /// Cancelling an offer.
    Cancel,
    /// Reading events.
    Events,
}

impl Call {
    /// Its name in lower case, for metrics and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::CreateMany => "create_many",
            Self::Validate => "validate",
            Self::Get => "get",
            Self::List => "list",
            Self::Cancel => "cancel",
            Self::Events => "events",
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
