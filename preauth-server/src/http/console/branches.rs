//! The branches of a head office.

use crate::http::pages::words::Words;
use crate::http::platform::companies::CompanyShape;

use super::action_forms::companies as forms;
use super::action_link::ActionLink;
use super::company_list;
use super::failure::Failure;
use super::frame::Section;
use super::list::{Column, List};
use super::visit::Visit;

/// All of them.
pub(super) struct Branches;

impl List for Branches {
    type Row = CompanyShape;

    const SECTION: Section = Section::Companies;
    const PATH: &'static str = "/companies/{id}/branches";

    fn title(&self, w: Words) -> String {
        w.t("Branches", "Filiais").to_owned()
    }

    fn source(&self, visit: &Visit) -> Result<String, Failure> {
        Ok(format!("companies/{}/branches", visit.id("id")?))
    }

    fn columns(&self) -> &'static [Column<CompanyShape>] {
        company_list::COLUMNS
    }

    fn action_links(&self, visit: &Visit) -> Vec<ActionLink> {
        let id = visit.id("id").unwrap_or_default();
        let link = forms::ADD_BRANCH.link(visit, &[("id", id)]);
        link.into_iter().collect()
    }

    fn crumb(&self, visit: &Visit) -> Option<(String, String)> {
        Some(company_list::crumb(visit))
    }
}
