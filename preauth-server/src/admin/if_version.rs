//! The version of a record that an action is bound to.

use clap::Args;
use preauth_core::value::Version;

use crate::http::platform::if_version::IF_VERSION;

use super::call::Call;

/// In which version of the record it is done.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct IfVersion {
    /// Only in this version of the record, as `show` has it: not if it has changed since. By default in the version that
    /// the question shows, and without a question in any.
    #[arg(long, value_name = "VERSION")]
    if_version: Option<Version>,
}

impl IfVersion {
    /// The version that the question showed, unless one was given.
    pub(super) fn or(self, shown: Option<Version>) -> Self {
        Self {
            if_version: self.if_version.or(shown),
        }
    }

    /// The action, in this version alone.
    pub(super) fn bind(self, action: Call) -> Call {
        action.query(IF_VERSION, self.if_version)
    }
}
