//! Why an attempt to deliver an event failed, in words.

use preauth_core::port::AttemptError;

use crate::attempt_words::attempt_error;
use crate::http::pages::words::Words;

use super::cell::Cell;

/// The words for the code of a stored error; a code of another version stands as it is.
pub(super) fn words(code: &str, w: Words) -> String {
    let known = AttemptError::of_code(code);
    known.map_or_else(
        || code.to_owned(),
        |error| attempt_error(error).of(w.0).to_owned(),
    )
}

/// The error, with its code for those who hover over it, and for files.
pub(super) fn cell(code: &str, w: Words) -> Cell {
    Cell::coded(code, words(code, w))
}

#[cfg(test)]
mod tests {
    use super::{AttemptError, Words, words};
    use crate::language::Language;

    #[test]
    fn no_code_is_shown_but_that_of_another_version() {
        for language in [Language::English, Language::Portuguese] {
            let w = Words(language);
            for error in AttemptError::ALL {
                assert_ne!(words(error.code(), w), error.code());
            }
            assert_eq!(words("OF_ANOTHER_VERSION", w), "OF_ANOTHER_VERSION");
        }
    }
}
