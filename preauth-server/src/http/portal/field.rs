//! The field of a form, with its problem if it has one.

use preauth_core::value::TextError;

use crate::http::pages::words::Words;

/// A field of text.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) hint: String,
    pub(super) value: String,
    pub(super) max: usize,
    /// Whether it may have several lines.
    pub(super) is_long: bool,
    pub(super) error: Option<String>,
}

impl Field {
    /// The ids of what describes it to a screen reader.
    pub(super) fn described_by(&self) -> String {
        let name = self.name;
        match self.error {
            Some(_) => format!("{name}-error {name}-hint"),
            None => format!("{name}-hint"),
        }
    }

    /// The same field with a refused text, cut to a length that a page can show.
    pub(super) fn refused(mut self, text: &str, error: TextError, words: Words) -> Self {
        let shown = self.max.saturating_mul(2);
        self.value = text.chars().take(shown).collect();
        self.error = Some(problem(error, words));
        self
    }
}

fn problem(error: TextError, words: Words) -> String {
    let is_english = words.t("en", "pt") == "en";
    match error {
        TextError::Blank => words
            .t("Please fill this in.", "Preencha este campo.")
            .to_owned(),
        TextError::TooShort { min, .. } if is_english => format!("At least {min} characters."),
        TextError::TooShort { min, .. } => format!("Use pelo menos {min} caracteres."),
        TextError::TooLong { max, found } if is_english => {
            format!("At most {max} characters; these are {found}.")
        }
        TextError::TooLong { max, found } => {
            format!("Use no máximo {max} caracteres; o texto tem {found}.")
        }
        TextError::ControlCharacter | TextError::InvisibleCharacter => words
            .t(
                "The text has a character that does not show. Please type it again.",
                "O texto tem um caractere invisível. Digite-o de novo.",
            )
            .to_owned(),
    }
}
