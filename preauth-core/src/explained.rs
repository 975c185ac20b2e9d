//! Readable `Debug` output for errors, because a `main` that returns an error prints its `Debug`.

use std::error::Error;
use std::fmt;
use std::iter::successors;

/// Maximum number of causes that are written.
const MAX_CAUSES: usize = 8;

/// Writes an error and then its causes.
pub(crate) fn with_causes(error: &dyn Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{error}")?;
    for cause in successors(error.source(), |&cause| cause.source()).take(MAX_CAUSES) {
        write!(f, ": {cause}")?;
    }
    Ok(())
}

/// Implements `Debug` as the text of `Display` followed by the causes, instead of variant names.
macro_rules! explained {
    ($($error:ty),+ $(,)?) => {
        $(impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::explained::with_causes(self, f)
            }
        })+
    };
}

pub(crate) use explained;
