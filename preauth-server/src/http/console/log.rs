//! What operators did, and what their role did not permit.

use preauth_core::value::CompanyId;
use salvo::http::Method;

use crate::http::pages::words::Words;
use crate::http::platform::audit_log::{AuditEntryShape, ChangeShape};
use crate::labels;
use crate::language::Text;

use super::action_link::ActionLink;
use super::audit_words;
use super::cell::Cell;
use super::failure::Failure;
use super::frame::Section;
use super::list::{Column, Filter, FilterKind, List};
use super::record_kinds;
use super::visit::Visit;

/// The whole log.
pub(super) struct All;

impl List for All {
    type Row = AuditEntryShape;

    const SECTION: Section = Section::Log;
    const PATH: &'static str = "/log";
    const COMPANY: Option<(usize, Text)> = Some((4, labels::COMPANY));

    fn title(&self, w: Words) -> String {
        w.t("Audit log", "Auditoria").to_owned()
    }

    fn source(&self, _visit: &Visit) -> Result<String, Failure> {
        Ok("audit-log".to_owned())
    }

    fn company(&self, it: &AuditEntryShape) -> Option<CompanyId> {
        it.company_id
    }

    fn filters(&self) -> &'static [Filter] {
        const fn text(name: &'static str, label: Text) -> Filter {
            Filter {
                name,
                label,
                kind: FilterKind::Text,
            }
        }
        const FILTERS: &[Filter] = &[
            text("operator", labels::OPERATOR),
            Filter {
                name: "action",
                label: labels::ACTION,
                kind: FilterKind::Named(audit_words::actions, audit_words::action),
            },
            text("record", labels::RECORD),
            text("companyId", Text::new("company's id", "id da empresa")),
            Filter {
                name: "from",
                label: Text::new("from", "de"),
                kind: FilterKind::Day { is_end: false },
            },
            Filter {
                name: "until",
                label: Text::new("to", "até"),
                kind: FilterKind::Day { is_end: true },
            },
        ];
        FILTERS
    }

    fn columns(&self) -> &'static [Column<AuditEntryShape>] {
        const COLUMNS: &[Column<AuditEntryShape>] = &[
            Column::new(labels::AT, |it, w| Cell::time(it.at, w)),
            Column::new(labels::OPERATOR, |it, w| {
                let role = super::names::name(it.role.as_str(), w);
                Cell::text(it.operator.name.as_str()).and(role)
            }),
            Column::new(labels::ACTION, |it, w| {
                Cell::coded(it.action.as_str(), audit_words::action(&it.action, w))
            }),
            Column::new(labels::RECORD, |it, w| record_kinds::cell(&it.record, w)),
            Column::new(labels::OUTCOME, |it, w| Cell::badge(&it.outcome, w)),
            Column::new(labels::CHANGES, |it, w| changes(&it.changes, w)),
            Column::new(labels::ADDRESS, |it, _| Cell::code(&it.operator.address)),
            Column::new(labels::REQUEST_ID, |it, _| {
                record_kinds::shortened_cell(&it.operator.request_id)
            }),
        ];
        COLUMNS
    }
}

/// The link to what was done on behalf of a company, for those who may read it.
pub(super) fn of_company(visit: &Visit, id: &str) -> Option<ActionLink> {
    let link = ActionLink {
        href: format!("/console/log?companyId={id}"),
        title: visit.words.t("Audit log", "Auditoria"),
        is_final: false,
    };
    visit.permits(&Method::GET, "audit-log").then_some(link)
}

/// What changed, in words; files have the codes.
fn changes(changes: &[ChangeShape], w: Words) -> Cell {
    if changes.is_empty() {
        return Cell::None;
    }
    let coded: Vec<_> = changes.iter().map(audit_words::coded).collect();
    let words = changes.iter().map(|it| audit_words::change(it, w));
    Cell::coded(coded.join("; "), words.collect::<Vec<_>>().join("; "))
}
