//! Formats untrusted text as one bounded line.

use std::error::Error as StdError;
use std::fmt::{self, Write};
use std::iter::successors;

use preauth_core::value::is_hidden;

/// Maximum number of causes shown.
const MAX_CAUSES: usize = 8;

/// Maximum length of any one text in characters, so that no answer can fill a log.
const MAX_CHARS: usize = 400;

/// The first `MAX_CHARS` characters of a text, which is all of any text of reasonable length.
pub(super) fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_CHARS);
    end.and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

/// Writes an error and its causes on one line, for `Debug`: a `main` that returns the error prints only
/// `Debug`, without the sources.
pub(super) fn with_causes(error: &dyn StdError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{error}")?;
    for cause in successors(error.source(), |&cause| cause.source()).take(MAX_CAUSES) {
        f.write_str(": ")?;
        let text = cause.to_string();
        for character in beginning(&text).chars() {
            f.write_char(if is_hidden(character) { ' ' } else { character })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Layer {
        text: String,
        source: Option<Box<Layer>>,
    }

    struct Line(Layer);

    impl fmt::Debug for Line {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            with_causes(&self.0, f)
        }
    }

    fn line(texts: &[&str]) -> String {
        let layers = texts.iter().rev().fold(None, |source, text| {
            let text = (*text).to_owned();
            Some(Box::new(Layer { text, source }))
        });
        format!("{:?}", Line(*layers.unwrap()))
    }

    #[test]
    fn an_error_is_followed_by_its_causes_from_the_outermost_to_the_innermost() {
        assert_eq!(line(&["alone"]), "alone");
        assert_eq!(line(&["a", "b", "c"]), "a: b: c");
    }

    #[test]
    fn neither_a_line_break_nor_length_nor_depth_of_a_cause_breaks_the_line() {
        assert_eq!(line(&["a", "b\nc\u{1b}"]), "a: b c ");
        let long = "\u{e9}".repeat(5000);
        assert_eq!(line(&["a", &long]).chars().count(), "a: ".len() + MAX_CHARS);
        assert_eq!(
            line(&["x"; 100]).matches(':').count(),
            MAX_CAUSES,
            "the error itself and its causes"
        );
    }
}
