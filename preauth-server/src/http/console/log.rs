//! What operators did, and what their role did not permit.

use crate::http::pages::words::Words;
use crate::http::platform::audit_log::AuditEntryShape;
use crate::labels;
use crate::language::Text;

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
        ];
        COLUMNS
    }
}

/// A record as paths name it, with a link where it has a page.
fn record(name: &str) -> Cell {
    let mut parts = name.split('/');
    let page = match (parts.next(), parts.next()) {
        (Some("notices"), Some(id)) => Some(format!("/console/mails/{id}")),
        (Some(kind @ ("operations" | "companies" | "deliveries" | "payment-orders")), Some(id)) => {
            Some(format!("/console/{kind}/{id}"))
        }
        _ => None,
    };
    page.map_or_else(|| Cell::code(name), |href| Cell::link(href, name))
}
