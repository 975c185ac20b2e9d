//! The name of a company and the path of its page, for lists.

use crate::http::pages::words::Words;
use crate::http::platform::companies::CompanyShape;

pub(super) fn path(company: &CompanyShape) -> String {
    format!("/console/companies/{}", company.id)
}

pub(super) fn name(company: &CompanyShape, w: Words) -> String {
    let invited = w.t("(invited supplier)", "(fornecedor convidado)");
    let name = company.name.as_ref().map_or(invited, |name| name.as_str());
    name.to_owned()
}
