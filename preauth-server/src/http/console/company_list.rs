//! The list of companies, and how a company stands in lists.

use preauth_core::value::CompanyId;

use crate::http::pages::words::Words;
use crate::http::platform::companies::CompanyShape;
use crate::labels;

use super::action_forms::companies;
use super::action_link::ActionLink;
use super::cell::Cell;
use super::failure::Failure;
use super::frame::Section;
use super::leaked_key;
use super::list::{Column, Filter, FilterKind, List};
use super::named_company::{name, path};
use super::visit::Visit;

/// Every company.
pub(super) struct All;

impl List for All {
    type Row = CompanyShape;

    const SECTION: Section = Section::Companies;
    const PATH: &'static str = "/companies";

    fn title(&self, w: Words) -> String {
        w.t("Companies", "Empresas").to_owned()
    }

    fn source(&self, _visit: &Visit) -> Result<String, Failure> {
        Ok("companies".to_owned())
    }

    fn filters(&self) -> &'static [Filter] {
        const FILTERS: &[Filter] = &[Filter {
            name: "cnpj",
            label: labels::CNPJ,
            kind: FilterKind::Text,
        }];
        FILTERS
    }

    fn columns(&self) -> &'static [Column<CompanyShape>] {
        COLUMNS
    }

    fn action_links(&self, visit: &Visit) -> Vec<ActionLink> {
        let add = companies::ADD.link(visit, &[]);
        add.into_iter().chain(leaked_key::link(visit)).collect()
    }
}

pub(super) const COLUMNS: &[Column<CompanyShape>] = &[
    Column::new(labels::NAME, |it, w| Cell::link(path(it), name(it, w))),
    Column::new(labels::CNPJ, |it, _| Cell::code(it.cnpj.masked())),
    Column::new(labels::KIND, |it, w| Cell::name(it.kind.as_str(), w)),
    Column::new(labels::REGISTERED, |it, w| {
        Cell::yes_or_no(it.registered, w)
    }),
    Column::new(labels::SUSPENDED, |it, w| {
        Cell::time(it.suspension.as_ref().map(|it| it.since), w)
    }),
    Column::new(labels::CREATED, |it, w| Cell::time(it.created_at, w)),
];

/// What stands above a list of the company that the path names.
pub(super) fn crumb(visit: &Visit) -> (String, String) {
    let id = visit.id("id").unwrap_or_default();
    let text = visit.words.t("The company", "A empresa");
    (format!("/console/companies/{id}"), text.to_owned())
}

/// A company by its name, with a link to its page.
pub(super) async fn link(visit: &Visit, id: CompanyId) -> Result<Cell, Failure> {
    let found: CompanyShape = visit.get(format!("companies/{id}")).await?;
    let link = Cell::link(path(&found), name(&found, visit.words));
    Ok(link.and(found.cnpj.masked()))
}
