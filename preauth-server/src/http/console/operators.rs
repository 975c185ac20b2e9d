//! Who may call the platform API and sign in here.

use preauth_core::access::KeyState;
use salvo::async_trait;

use crate::http::pages::words::Words;
use crate::http::platform::operators::OperatorShape;
use crate::http::reply::Reply;
use crate::labels;

use super::action_forms::operators as forms;
use super::action_link::ActionLink;
use super::cell::Cell;
use super::failure::Failure;
use super::frame::Section;
use super::guard::Page;
use super::list::{Column, List};
use super::names;
use super::record::Record;
use super::visit::Visit;

/// Every named operator.
pub(super) struct All;

impl List for All {
    type Row = OperatorShape;

    const SECTION: Section = Section::Operators;
    const PATH: &'static str = "/operators";
    const HAS_ROW_LINKS: bool = true;

    fn title(&self, w: Words) -> String {
        w.t("Operators", "Operadores").to_owned()
    }

    fn source(&self, _visit: &Visit) -> Result<String, Failure> {
        Ok("operators".to_owned())
    }

    fn columns(&self) -> &'static [Column<OperatorShape>] {
        const COLUMNS: &[Column<OperatorShape>] = &[
            Column::new(labels::NAME, |it, _| {
                Cell::link(format!("/console/operators/{}", it.id), it.name.as_str())
            }),
            Column::new(labels::ROLE, |it, w| Cell::name(it.role.as_str(), w)),
            Column::new(labels::STATE, |it, w| Cell::masculine_badge(&it.state, w)),
            Column::new(labels::ADDED_BY, |it, _| Cell::text(it.created_by.as_str())),
            Column::new(labels::CREATED, |it, w| Cell::time(it.created_at, w)),
            Column::new(labels::VALID_UNTIL, |it, w| Cell::time(it.valid_until, w)),
            Column::new(labels::LAST_USED, |it, w| Cell::time(it.last_used_at, w)),
        ];
        COLUMNS
    }

    fn row_links(&self, it: &OperatorShape, visit: &Visit) -> Vec<ActionLink> {
        links(it, visit)
    }

    fn action_links(&self, visit: &Visit) -> Vec<ActionLink> {
        forms::ADD.link(visit, &[]).into_iter().collect()
    }
}

/// What leads to the forms of an operator.
fn links(it: &OperatorShape, visit: &Visit) -> Vec<ActionLink> {
    let is_active = it.state.as_str() == KeyState::Active.as_str();
    let link = forms::REVOKE.link(visit, &[("id", &it.id.to_string())]);
    link.into_iter().filter(|_| is_active).collect()
}

/// The page of an operator.
pub(super) struct One;

#[async_trait]
impl Page for One {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let w = visit.words;
        let path = format!("operators/{}", visit.id("id")?);
        let it: OperatorShape = visit.get(path).await?;
        let done = format!("/console/log?operator={}", encoded(it.name.as_str()));
        Record::new(visit, Section::Operators, it.name.as_str())
            .under("/console/operators", w.t("Operators", "Operadores"))
            .badge(names::masculine_badge(it.state.as_str(), w))
            .action_links(links(&it, visit))
            .fields(vec![
                (labels::ROLE.of(w.0), Cell::name(it.role.as_str(), w)),
                (labels::ADDED_BY.of(w.0), Cell::text(it.created_by.as_str())),
                (labels::CREATED.of(w.0), Cell::time(it.created_at, w)),
                (labels::VALID_UNTIL.of(w.0), Cell::time(it.valid_until, w)),
                (labels::REVOKED.of(w.0), Cell::time(it.revoked_at, w)),
                (labels::LAST_USED.of(w.0), Cell::time(it.last_used_at, w)),
                (
                    w.t("audit log", "auditoria"),
                    Cell::link(
                        done,
                        w.t("What this operator did", "O que este operador fez"),
                    ),
                ),
                (labels::ID.of(w.0), Cell::code(it.id)),
            ])
            .reply()
    }
}

fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}
