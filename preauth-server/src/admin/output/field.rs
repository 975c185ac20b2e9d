//! A value of an answer: its path, its title, its format.

use preauth_core::value::{Cnpj, Money, Timestamp};
use serde_json::Value;

use crate::printable::{printable, reais};

/// One value of a record, or one column of a table.
#[derive(Clone, Copy, Debug)]
pub(in crate::admin) struct Field {
    pub(super) title: &'static str,
    /// A JSON pointer.
    pub(super) pointer: &'static str,
    pub(super) form: Form,
}

/// The format of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::admin) enum Form {
    /// Unchanged; never truncated, because it may be pasted.
    Whole,
    /// Unchanged; truncated where a table is too wide for the terminal.
    Text,
    /// A status.
    Status,
    /// A tax id, with its mask.
    Cnpj,
    /// A time, to the second.
    Moment,
    /// An amount in reais.
    Money,
}

/// The meaning of a status, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Title,
    Good,
    Waiting,
    Bad,
}

/// A field of this format.
const fn form(form: Form, title: &'static str, pointer: &'static str) -> Field {
    Field {
        title,
        pointer,
        form,
    }
}

impl Field {
    pub(in crate::admin) const fn whole(title: &'static str, pointer: &'static str) -> Self {
        form(Form::Whole, title, pointer)
    }

    pub(in crate::admin) const fn text(title: &'static str, pointer: &'static str) -> Self {
        form(Form::Text, title, pointer)
    }

    pub(in crate::admin) const fn status(title: &'static str, pointer: &'static str) -> Self {
        form(Form::Status, title, pointer)
    }

    pub(in crate::admin) const fn cnpj(title: &'static str, pointer: &'static str) -> Self {
        form(Form::Cnpj, title, pointer)
    }

    pub(in crate::admin) const fn moment(title: &'static str, pointer: &'static str) -> Self {
        form(Form::Moment, title, pointer)
    }

    pub(in crate::admin) const fn money(title: &'static str, pointer: &'static str) -> Self {
        form(Form::Money, title, pointer)
    }

    /// The value in `record` as printed; `-` when there is none.
    pub(in crate::admin) fn read(&self, record: &Value) -> String {
        let value = record.pointer(self.pointer).unwrap_or(&Value::Null);
        let plain = plain(value);
        match self.form {
            Form::Whole | Form::Text | Form::Status => plain,
            Form::Cnpj => Cnpj::parse(&plain).map_or(plain, |tax_id| tax_id.masked()),
            Form::Moment => Timestamp::parse(&plain).map_or(plain, moment),
            Form::Money => Money::parse(&plain).map_or(plain, reais),
        }
    }

    pub(super) fn tone(&self, shown: &str) -> Tone {
        if self.form == Form::Status {
            tone(shown)
        } else {
            Tone::Plain
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => printable(text),
        Value::Array(items) if items.is_empty() => "-".to_owned(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(_) => printable(&value.to_string()),
    }
}

fn moment(moment: Timestamp) -> String {
    moment
        .to_datetime()
        .format("%Y-%m-%d %H:%M:%SZ")
        .to_string()
}

fn tone(word: &str) -> Tone {
    match word {
        "CONCLUDED" | "DELIVERED" | "SENT" | "ACTIVE" | "PAID" => Tone::Good,
        "PENDING" | "HELD" | "PAUSED" | "EXPIRED" | "OPEN" => Tone::Waiting,
        "REPROVED" | "FAILED" | "REVOKED" | "CANCELED" => Tone::Bad,
        _ => Tone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::{Field, Tone};
    use serde_json::json;

    #[test]
    fn values_are_shown_in_the_form_that_commands_take() {
        let record = json!({
            "cnpj": "12ABC34501DE35",
            "at": "2026-11-21T13:09:47.549Z",
            "amount": 12500.5,
            "whole": 500,
            "none": null,
            "list": ["a", "b"],
        });
        for (field, shown) in [
            (Field::cnpj("", "/cnpj"), "12.ABC.345/01DE-35"),
            (Field::moment("", "/at"), "2026-11-21 13:09:47Z"),
            (Field::money("", "/amount"), "12500.50"),
            (Field::money("", "/whole"), "500.00"),
            (Field::money("", "/none"), "-"),
            (Field::text("", "/nowhere"), "-"),
            (Field::text("", "/list"), "a, b"),
        ] {
            assert_eq!(field.read(&record), shown, "{field:?}");
        }
    }

    #[test]
    fn only_words_about_how_things_stand_have_a_tone() {
        assert_eq!(Field::status("", "").tone("FAILED"), Tone::Bad);
        assert_eq!(Field::text("", "").tone("FAILED"), Tone::Plain);
    }
}
