//! What has to be typed before something is done that cannot be undone.

use serde_json::Value;

use crate::http::pages::form::Form;
use crate::http::pages::words::Words;

use super::field::Field;
use super::request::member;
use super::subject::Subject;
use super::{ActionForm, Typed};

/// The field in which it is typed.
const CONFIRMATION: &str = "confirmation";

impl ActionForm {
    /// The field, empty however often the form is shown; none where nothing has to be typed.
    pub(super) fn confirmation(&self, w: Words, is_wrong: bool) -> Option<Field> {
        let Typed { label, .. } = self.typed?;
        Some(Field {
            name: CONFIRMATION,
            label: label.of(w.0),
            is_required: true,
            value: String::new(),
            input: "text",
            choices: Vec::new(),
            unchosen: "",
            is_many: false,
            hint: "",
            error: is_wrong.then(|| {
                w.t(
                    "This field must repeat what it asks for.",
                    "Este campo deve repetir o que pede.",
                )
                .to_owned()
            }),
            is_first: is_wrong,
        })
    }

    /// Whether that was typed, if anything has to be.
    pub(super) fn is_confirmed(&self, subject: &Subject, form: &Form) -> bool {
        let Some(Typed { member: path, .. }) = self.typed else {
            return true;
        };
        let expected = subject.record.as_ref().and_then(|it| member(it, path));
        let expected = expected.and_then(Value::as_str).map(essence);
        expected.is_some() && form.one(CONFIRMATION).map(essence) == expected
    }
}

pub(super) fn unconfirmed(w: Words) -> &'static str {
    w.t(
        "What you typed to confirm is another text. Nothing was done.",
        "O texto que você digitou para confirmar é outro. Nada foi feito.",
    )
}

/// Letters and digits: a CNPJ is the same with and without its mask.
fn essence(text: &str) -> String {
    let characters = text.chars().filter(char::is_ascii_alphanumeric);
    characters.map(|it| it.to_ascii_uppercase()).collect()
}
