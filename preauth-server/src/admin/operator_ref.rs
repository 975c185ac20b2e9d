//! An operator on the command line: by id, or by name, which is unique.

use preauth_core::value::{OperatorId, OperatorName, TextError};

/// A reference to an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OperatorRef {
    /// The platform's own id.
    Id(OperatorId),
    /// The name.
    Name(OperatorName),
}

impl OperatorRef {
    /// Parses either form.
    pub(super) fn parse(text: &str) -> Result<Self, TextError> {
        if let Ok(id) = OperatorId::parse(text) {
            return Ok(Self::Id(id));
        }
        OperatorName::parse(text).map(Self::Name)
    }
}
