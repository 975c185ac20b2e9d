//! Ticks in a list: rows that are chosen for one form.

use super::PREFIX;
use super::visit::Visit;

/// What is done with the rows that are ticked.
pub(super) struct TickForm {
    /// The path of the form.
    pub(super) action: String,
    /// The button.
    pub(super) title: &'static str,
    /// The title of the column.
    pub(super) column: &'static str,
    /// The button that ticks every row, or none.
    pub(super) all: &'static str,
}

/// The tick of a row.
pub(super) struct Tick {
    pub(super) id: String,
    /// What a screen reader calls it.
    pub(super) label: String,
}

impl TickForm {
    pub(super) fn new(visit: &Visit, path: &str, title: &'static str) -> Self {
        Self {
            action: format!("{PREFIX}{path}"),
            title,
            column: visit.words.t("ticked", "marcada"),
            all: visit
                .words
                .t("Tick all of this page", "Marcar todas desta página"),
        }
    }
}
