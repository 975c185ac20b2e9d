//! Errors that a program shows: `main` prints the `Debug` of what it returns.

use std::error::Error;
use std::fmt;
use std::iter::successors;

/// The most causes that are written.
const MAX_CAUSES: usize = 8;

/// Writes an error and then what lies beneath it.
pub(crate) fn with_causes(error: &dyn Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{error}")?;
    for cause in successors(error.source(), |&cause| cause.source()).take(MAX_CAUSES) {
        write!(f, ": {cause}")?;
    }
    Ok(())
}

/// `Debug` writes the text of `Display`, and then its causes: the name of a variant explains nothing.
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
