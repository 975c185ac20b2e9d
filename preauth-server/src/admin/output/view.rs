//! A whole record: its values, its tables, and secrets that are shown only once.

use crate::language::Text;
use crate::printable::printable;

use super::cell::Tone;
use super::field::Field;
use super::screen::Screen;

/// The format of a record.
pub(in crate::admin) struct View<T: 'static> {
    pub(in crate::admin) fields: &'static [Field<T>],
    pub(in crate::admin) sections: &'static [Section<T>],
}

/// A part of a record that does not fit into a line.
pub(in crate::admin) enum Section<T> {
    /// A list of records.
    Table {
        title: Text,
        table: fn(&T, Screen) -> String,
    },
    /// A text of its own.
    Text { title: Text, text: fn(&T) -> &str },
    /// A secret, if this answer has it, alone on its line. No later answer has it.
    Secret {
        warning: Text,
        secret: fn(&T) -> Option<&String>,
    },
}

impl<T> View<T> {
    /// A view of values alone.
    pub(in crate::admin) const fn of(fields: &'static [Field<T>]) -> Self {
        Self {
            fields,
            sections: &[],
        }
    }

    /// The record as text.
    pub(in crate::admin) fn render(&self, record: &T, screen: Screen) -> String {
        let language = screen.language;
        let titles = self.fields.iter().map(|field| field.title.of(language));
        let width = titles.map(|title| title.chars().count()).max();
        let width = width.unwrap_or_default();
        let mut text = String::new();
        for field in self.fields {
            let title = format!("{:<width$}", field.title.of(language));
            let cell = (field.cell)(record);
            let shown = screen.paint(cell.text(language), cell.tone());
            text.push_str(&screen.paint(&title, Tone::Title));
            text.push_str("  ");
            text.push_str(&shown);
            text.push('\n');
        }
        for section in self.sections {
            text.push_str(&section.render(record, screen));
        }
        text
    }
}

impl<T> Section<T> {
    /// Empty when the record has no such part.
    fn render(&self, record: &T, screen: Screen) -> String {
        let heading = |title: &Text| {
            let title = screen.paint(title.of(screen.language), Tone::Title);
            format!("\n{title}\n")
        };
        match self {
            Self::Table { title, table } => {
                format!("{}{}", heading(title), table(record, screen))
            }
            Self::Text { title, text } => {
                format!("{}{}\n", heading(title), printable(text(record)))
            }
            Self::Secret { warning, secret } => secret(record).map_or_else(String::new, |secret| {
                format!("{}{}\n", heading(warning), printable(secret))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cell::Shown;
    use super::super::table;
    use super::{Field, Screen, Section, Text, View};
    use crate::labels;
    use crate::language::Language;

    struct Record {
        name: Option<String>,
        events: Vec<String>,
        key: Option<String>,
    }

    const VIEW: View<Record> = View {
        fields: &[
            Field::new(labels::ID, |_| 7_u32.cell()),
            Field::new(labels::NAME, |it| it.name.cell()),
        ],
        sections: &[
            Section::Table {
                title: labels::HISTORY,
                table: |it, screen| table(EVENTS, &it.events, screen),
            },
            Section::Secret {
                warning: Text::new("The key, once:", "A chave, uma vez:"),
                secret: |it| it.key.as_ref(),
            },
        ],
    };
    const EVENTS: &[Field<String>] = &[Field::new(labels::EVENT, Shown::cell)];

    fn shown(record: &Record, language: Language) -> String {
        let screen = Screen {
            width: None,
            has_colours: false,
            language,
        };
        VIEW.render(record, screen)
    }

    #[test]
    fn a_secret_stands_alone_on_its_line() {
        let record = Record {
            name: Some("ERP".to_owned()),
            events: vec!["anticipation.paid".to_owned()],
            key: Some("service_sk_1".to_owned()),
        };
        let expected = "\
id    7
name  ERP

History
EVENT
anticipation.paid

The key, once:
service_sk_1
";
        assert_eq!(shown(&record, Language::English), expected);
        let expected = "\
id    7
nome  ERP

Histórico
EVENTO
anticipation.paid

A chave, uma vez:
service_sk_1
";
        assert_eq!(shown(&record, Language::Portuguese), expected);
    }

    #[test]
    fn a_secret_that_a_record_does_not_have_leaves_no_trace() {
        let record = Record {
            name: None,
            events: Vec::new(),
            key: None,
        };
        assert_eq!(
            shown(&record, Language::English),
            "id    7\nname  -\n\nHistory\nnone\n"
        );
    }
}
