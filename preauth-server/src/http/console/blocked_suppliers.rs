//! Suppliers that a head office does not deal with.

use crate::http::pages::words::Words;
use crate::http::platform::blocked_suppliers::BlockedSupplier;
use crate::labels;

use super::action_forms::companies as forms;
use super::action_link::ActionLink;
use super::cell::Cell;
use super::company_list;
use super::failure::Failure;
use super::frame::Section;
use super::list::{Column, List};
use super::visit::Visit;

/// The block list of a head office.
pub(super) struct BlockedSuppliers;

impl List for BlockedSuppliers {
    type Row = BlockedSupplier;

    const SECTION: Section = Section::Companies;
    const PATH: &'static str = "/companies/{id}/blocked-suppliers";
    const HAS_ROW_LINKS: bool = true;

    fn title(&self, w: Words) -> String {
        w.t("Blocked suppliers", "Fornecedores bloqueados")
            .to_owned()
    }

    fn source(&self, visit: &Visit) -> Result<String, Failure> {
        Ok(format!("companies/{}/blocked-suppliers", visit.id("id")?))
    }

    fn columns(&self) -> &'static [Column<BlockedSupplier>] {
        const COLUMNS: &[Column<BlockedSupplier>] = &[Column::new(labels::CNPJ, |it, _| {
            Cell::code(it.cnpj.masked())
        })];
        COLUMNS
    }

    fn row_links(&self, it: &BlockedSupplier, visit: &Visit) -> Vec<ActionLink> {
        let id = visit.id("id").unwrap_or_default();
        let ids = [("id", id), ("cnpj", it.cnpj.as_str())];
        forms::UNBLOCK.link(visit, &ids).into_iter().collect()
    }

    fn action_links(&self, visit: &Visit) -> Vec<ActionLink> {
        let id = visit.id("id").unwrap_or_default();
        let link = forms::BLOCK.link(visit, &[("id", id)]);
        link.into_iter().collect()
    }

    fn crumb(&self, visit: &Visit) -> Option<(String, String)> {
        Some(company_list::crumb(visit))
    }
}
