//! A whole record: its values, its tables, and secrets that are shown only once.

use serde_json::Value;

use crate::printable::printable;

use super::field::{Field, Tone};
use super::screen::Screen;
use super::table::table;

/// The format of a record.
#[derive(Clone, Copy, Debug)]
pub(in crate::admin) struct View {
    pub(in crate::admin) fields: &'static [Field],
    pub(in crate::admin) sections: &'static [Section],
}

/// A part of a record that does not fit into a line.
#[derive(Clone, Copy, Debug)]
pub(in crate::admin) enum Section {
    /// A list of records.
    Table {
        title: &'static str,
        pointer: &'static str,
        columns: &'static [Field],
    },
    /// A text of its own.
    Text {
        title: &'static str,
        pointer: &'static str,
    },
    /// A secret, if this answer has it, alone on its line. No later answer has it.
    Secret {
        title: &'static str,
        pointer: &'static str,
    },
}

impl View {
    /// A view of values alone.
    pub(in crate::admin) const fn of(fields: &'static [Field]) -> Self {
        Self {
            fields,
            sections: &[],
        }
    }

    /// The record as text.
    pub(in crate::admin) fn render(&self, record: &Value, screen: Screen) -> String {
        let titles = self.fields.iter().map(|field| field.title.chars().count());
        let width = titles.max().unwrap_or_default();
        let mut text = String::new();
        for field in self.fields {
            let title = format!("{:<width$}", field.title);
            let shown = field.read(record);
            let shown = screen.paint(&shown, field.tone(&shown));
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

impl Section {
    /// Empty when the record has no such part.
    fn render(&self, record: &Value, screen: Screen) -> String {
        let heading = |title: &str| format!("\n{}\n", screen.paint(title, Tone::Title));
        match *self {
            Self::Table {
                title,
                pointer,
                columns,
            } => match record.pointer(pointer) {
                Some(Value::Array(rows)) => {
                    format!("{}{}", heading(title), table(columns, rows, screen))
                }
                _ => String::new(),
            },
            Self::Text { title, pointer } => match record.pointer(pointer) {
                Some(Value::String(body)) => format!("{}{}\n", heading(title), printable(body)),
                _ => String::new(),
            },
            Self::Secret { title, pointer } => match record.pointer(pointer) {
                Some(Value::String(secret)) => format!(
                    "{}{}\n",
                    heading(&format!(
                        "The {title} is shown this once; keep it now, nothing can show it again:"
                    )),
                    printable(secret)
                ),
                _ => String::new(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Field, Screen, Section, View};
    use serde_json::json;

    const VIEW: View = View {
        fields: &[Field::whole("id", "/id"), Field::text("name", "/name")],
        sections: &[
            Section::Table {
                title: "History",
                pointer: "/history",
                columns: &[Field::whole("event", "/type")],
            },
            Section::Secret {
                title: "key",
                pointer: "/key",
            },
        ],
    };

    fn shown(record: &serde_json::Value) -> String {
        let screen = Screen {
            width: None,
            has_colours: false,
        };
        VIEW.render(record, screen)
    }

    #[test]
    fn a_secret_stands_alone_on_its_line() {
        let record = json!({"id": "7", "name": "ERP", "key": "service_sk_1"});
        let expected = "\
id    7
name  ERP

The key is shown this once; keep it now, nothing can show it again:
service_sk_1
";
        assert_eq!(shown(&record), expected);
    }

    #[test]
    fn parts_that_a_record_does_not_have_leave_no_trace() {
        assert_eq!(
            shown(&json!({"id": "7", "name": null})),
            "id    7\nname  -\n"
        );
        let with_history = shown(&json!({"id": "7", "history": [{"type": "anticipation.paid"}]}));
        assert!(
            with_history.ends_with("\nHistory\nEVENT\nanticipation.paid\n"),
            "{with_history}"
        );
    }
}
