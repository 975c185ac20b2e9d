//! What operators did, and what their role did not permit.

use salvo::http::Method;

use crate::http::pages::words::Words;
use crate::http::platform::audit_log::AuditEntryShape;
use crate::labels;
use crate::language::Text;

use super::action_link::ActionLink;
use super::cell::Cell;
use super::failure::Failure;
use super::frame::Section;
use super::list::{Column, Filter, FilterKind, List};
use super::visit::Visit;

/// The whole log.
pub(super) struct All;

impl List for All {
    type Row = AuditEntryShape;

    const SECTION: Section = Section::Log;
    const PATH: &'static str = "/log";

    fn title(&self, w: Words) -> String {
        w.t("Audit log", "Auditoria").to_owned()
    }

    fn source(&self, _visit: &Visit) -> Result<String, Failure> {
        Ok("audit-log".to_owned())
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
            text("action", labels::ACTION),
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
            Column::new(labels::ACTION, |it, _| Cell::code(&it.action)),
            Column::new(labels::RECORD, |it, _| record(&it.record)),
            Column::new(labels::OUTCOME, |it, w| Cell::badge(&it.outcome, w)),
            Column::new(labels::CHANGES, |it, _| {
                let changes = it.changes.iter().map(|change| {
                    let value = |text: &Option<String>| text.clone().unwrap_or_default();
                    let (before, after) = (value(&change.before), value(&change.after));
                    format!("{}: {before} → {after}", change.setting)
                });
                Cell::text(changes.collect::<Vec<_>>().join("; "))
            }),
            Column::new(labels::ADDRESS, |it, _| Cell::code(&it.operator.address)),
            Column::new(labels::REQUEST_ID, |it, _| {
                Cell::code(&it.operator.request_id)
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

/// A record as paths name it, with a link where it has a page.
fn record(name: &str) -> Cell {
    let mut parts = name.split('/');
    let page = match (parts.next(), parts.next()) {
        (Some("notices"), Some(id)) => Some(format!("/console/mails/{id}")),
        (Some("master-keys"), _) => Some(super::master_keys::PATH.to_owned()),
        (
            Some(
                kind @ ("operations" | "companies" | "deliveries" | "payment-orders" | "users"
                | "api-keys" | "operators" | "invoices" | "extensions" | "personal-data"),
            ),
            Some(id),
        ) => Some(format!("/console/{kind}/{id}")),
        _ => None,
    };
    page.map_or_else(|| Cell::code(name), |href| Cell::link(href, name))
}
