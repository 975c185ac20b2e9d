//! Unicode properties: which characters are invisible, and which texts are equivalent.
//!
//! All tables have the same Unicode version, because properties and normalization come from one release
//! of ICU4X. A test below checks the version.

use std::borrow::Cow;
use std::fmt::{self, Write};

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use icu_properties::props::{DefaultIgnorableCodePoint, GeneralCategory};
use icu_properties::{CodePointMapData, CodePointSetData};

/// Whether a character is invisible or changes how the text around it is displayed: general category Cc,
/// Cf, Zl or Zp, `Default_Ignorable_Code_Point`, a symbol that is drawn blank, or a space narrower than
/// the one between words.
///
/// Input texts must not contain such a character, and output escapes it. An unassigned code point counts
/// as visible, unless it is default-ignorable.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    if is_blank(character) {
        return true;
    }
    let category = CodePointMapData::<GeneralCategory>::new().get(character);
    matches!(
        category,
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
    ) || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character)
}

/// Whether a character is visible by its Unicode properties, but is drawn blank or nearly blank.
const fn is_blank(character: char) -> bool {
    matches!(
        character,
        // Spaces of a third of an em and less, down to the hair space.
        '\u{2004}'
            ..='\u{200a}' | '\u{202f}' | '\u{205f}'
        // A Braille cell without dots.
        | '\u{2800}'
        // The object replacement character.
        | '\u{fffc}'
        // Two hieroglyph blanks, the Khitan filler, and the null notehead.
        | '\u{13441}' | '\u{13442}' | '\u{16fe4}' | '\u{1d159}'
    )
}

/// Displays an untrusted text on one line: characters that [are hidden](is_hidden) are escaped, so that
/// the text can neither control a terminal nor look like another text.
#[must_use]
pub const fn escaped(text: &str) -> Escaped<'_> {
    Escaped(text)
}

/// A text that is displayed as [`escaped`] describes.
#[derive(Clone, Copy, Debug)]
pub struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            if is_hidden(character) {
                write!(f, "{}", character.escape_default())?;
            } else {
                f.write_char(character)?;
            }
        }
        Ok(())
    }
}

/// The text in normalization form C, which comparisons use.
#[must_use]
pub(crate) fn nfc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    ComposingNormalizerBorrowed::new_nfc().normalize(text)
}

/// The text with each run of white space, of any kind and length, replaced by one space.
#[must_use]
pub(crate) fn with_plain_spaces(text: &str) -> Cow<'_, str> {
    let is_plain = |text: &str| {
        !text.contains("  ") && text.chars().all(|it| it == ' ' || !it.is_whitespace())
    };
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The text in normalization form D.
#[must_use]
pub(crate) fn nfd(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    DecomposingNormalizerBorrowed::new_nfd().normalize(text)
}

#[cfg(test)]
mod tests {
    use icu_properties::CodePointMapData;
    use icu_properties::props::GeneralCategory;

    use super::{escaped, is_hidden, nfc, nfd, with_plain_spaces};

    #[test]
    fn the_tables_are_of_unicode_18() {
        let categories = CodePointMapData::<GeneralCategory>::new();
        // A letter that Unicode 18 added. The number of assigned characters below is also specific to
        // that version.
        assert_eq!(categories.get('\u{a7dd}'), GeneralCategory::UppercaseLetter);
        let assigned = ('\0'..=char::MAX)
            .filter(|it| categories.get(*it) != GeneralCategory::Unassigned)
            .count();
        let hidden = ('\0'..=char::MAX).filter(|it| is_hidden(*it)).count();
        assert_eq!((assigned, hidden), (310_341, 4_288));
    }

    #[test]
    fn invisible_characters_are_hidden() {
        let hidden = "\0\t\n\r\u{1b}\u{7f}\u{85}\u{9b}\u{ad}\u{34f}\u{600}\u{61c}\u{115f}\u{17b4}\u{180b}\
            \u{180e}\u{200b}\u{200d}\u{200e}\u{2028}\u{2029}\u{202e}\u{2060}\u{2064}\u{2065}\u{2066}\u{206f}\
            \u{3164}\u{fe00}\u{fe0f}\u{feff}\u{ffa0}\u{fff0}\u{fff9}\u{1d173}\u{e0001}\u{e0041}\u{e01ef}\
            \u{e0fff}\u{2004}\u{2009}\u{200a}\u{202f}\u{205f}\u{2800}\u{fffc}\u{13441}\u{13442}\u{16fe4}\u{1d159}";
        for character in hidden.chars() {
            assert!(is_hidden(character), "{character:?}");
        }
    }

    #[test]
    fn visible_characters_are_not_hidden() {
        // Visible: spaces of full width, combining accents, emoji, letters of any script, private-use and
        // unassigned code points.
        let shown = " aÃ1.-_\"\\\u{a0}\u{2003}\u{3000}\u{2801}\u{301}\u{4e2d}\u{1f642}\u{e000}\u{378}\u{fdd0}\u{10ffff}";
        for character in shown.chars() {
            assert!(!is_hidden(character), "{character:?}");
        }
    }

    #[test]
    fn only_what_is_hidden_is_escaped() {
        let hostile = "ok\u{1b}[2J\r\n\u{9b}31m\u{202e}\u{3164}";
        let shown = escaped(hostile).to_string();
        assert_eq!(shown, r"ok\u{1b}[2J\r\n\u{9b}31m\u{202e}\u{3164}");
        assert!(!shown.chars().any(is_hidden));
        assert_eq!(escaped("Concreto e Aço").to_string(), "Concreto e Aço");
    }

    #[test]
    fn texts_that_are_canonically_equivalent_have_one_form() {
        assert_eq!(nfc("Acai\u{301}"), "Aca\u{ed}");
        assert_eq!(nfd("Aca\u{ed}"), "Acai\u{301}");
        assert_eq!(nfc("NF-1"), "NF-1");
        // Width and style variants of the same character remain different.
        assert_eq!(nfc("\u{ff11}\u{b2}"), "\u{ff11}\u{b2}");
    }

    #[test]
    fn spaces_of_any_kind_and_number_are_one() {
        for text in [
            "NF 1",
            "NF\u{a0}1",
            "NF\u{2003}1",
            "NF\u{3000}1",
            "NF\u{1680}1",
            "NF  1",
            "NF \u{a0} 1",
        ] {
            assert_eq!(with_plain_spaces(text), "NF 1", "{text:?}");
        }
        assert_eq!(with_plain_spaces("NF-1"), "NF-1");
    }
}
