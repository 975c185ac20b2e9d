//! The name of a company and the path of its page, for lists.

use std::collections::HashMap;

use preauth_core::value::CompanyId;
use salvo::http::StatusCode;

use crate::http::pages::words::Words;
use crate::http::platform::companies::CompanyShape;
use crate::http::platform::party::PartyShape;

use super::cell::Cell;
use super::failure::Failure;
use super::visit::Visit;

pub(super) fn path(company: &CompanyShape) -> String {
    path_of(company.id)
}

/// The page of the company with this id.
pub(super) fn path_of(id: CompanyId) -> String {
    format!("/console/companies/{id}")
}

pub(super) fn name(company: &CompanyShape, w: Words) -> String {
    let invited = w.t("(invited supplier)", "(fornecedor convidado)");
    let name = company.name.as_ref().map_or(invited, |name| name.as_str());
    name.to_owned()
}

/// A payer or supplier, with a link to its page.
pub(super) fn party(party: &PartyShape) -> Cell {
    Cell::link(path_of(party.company_id), party.name.as_str()).and(party.cnpj.masked())
}

/// Companies of which lists have only the ids: each is looked up once.
#[derive(Debug, Default)]
pub(super) struct NamedCompanies(HashMap<CompanyId, String>);

impl NamedCompanies {
    /// A company by its name, with a link to its page; its id where there is no such company.
    pub(super) async fn cell(
        &mut self,
        visit: &Visit,
        id: Option<CompanyId>,
    ) -> Result<Cell, Failure> {
        let Some(id) = id else {
            return Ok(Cell::None);
        };
        let found = if let Some(found) = self.0.get(&id) {
            found.clone()
        } else {
            let found = looked_up(visit, id).await?;
            self.0.insert(id, found.clone());
            found
        };
        Ok(Cell::link(path_of(id), found))
    }
}

async fn looked_up(visit: &Visit, id: CompanyId) -> Result<String, Failure> {
    let found = visit.get::<CompanyShape>(format!("companies/{id}")).await;
    match found {
        Ok(company) => Ok(name(&company, visit.words)),
        Err(Failure::Api(error)) if error.status() == StatusCode::NOT_FOUND => Ok(id.to_string()),
        Err(failure) => Err(failure),
    }
}
