//! Who may call the platform API and sign in here.

use preauth_core::access::KeyState;

use crate::http::pages::words::Words;
use crate::http::platform::operators::OperatorShape;
use crate::labels;
use crate::language::Text;

use super::action_forms::operators as forms;
use super::action_link::ActionLink;
use super::cell::Cell;
use super::failure::Failure;
use super::frame::Section;
use super::list::{Column, Filter, List};
use super::visit::Visit;

/// Every named operator.
pub(super) struct All;

impl List for All {
    type Row = OperatorShape;

    const SECTION: Section = Section::Operators;
    const PATH: &'static str = "/operators";

    fn title(&self, w: Words) -> String {
        w.t("Operators", "Operadores").to_owned()
    }

    fn source(&self, _visit: &Visit) -> Result<String, Failure> {
        Ok("operators".to_owned())
    }

    fn filters(&self) -> &'static [Filter] {
        &[]
    }

    fn columns(&self) -> &'static [Column<OperatorShape>] {
        const COLUMNS: &[Column<OperatorShape>] = &[
            Column::new(labels::NAME, |it, _| {
                let href = format!("/console/log?operator={}", encoded(it.name.as_str()));
                Cell::link(href, it.name.as_str())
            }),
            Column::new(labels::ROLE, |it, w| Cell::name(it.role.as_str(), w)),
            Column::new(labels::STATE, |it, w| Cell::badge(&it.state, w)),
            Column::new(labels::ADDED_BY, |it, _| Cell::text(it.created_by.as_str())),
            Column::new(labels::CREATED, |it, w| Cell::time(it.created_at, w)),
            Column::new(labels::VALID_UNTIL, |it, w| Cell::time(it.valid_until, w)),
            Column::new(labels::LAST_USED, |it, w| Cell::time(it.last_used_at, w)),
            Column::new(Text::new("token", "token"), |it, w| {
                let is_active = it.state.as_str() == KeyState::Active.as_str();
                let href = format!("/console/operators/{}/revoke", it.id);
                if is_active {
                    Cell::link(href, forms::REVOKE.title.of(w.0))
                } else {
                    Cell::None
                }
            }),
        ];
        COLUMNS
    }

    fn action_links(&self, visit: &Visit) -> Vec<ActionLink> {
        forms::ADD.link(visit, &[]).into_iter().collect()
    }
}

fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}
