//! A company on the command line: its id, or its tax id.

use preauth_core::value::{Cnpj, CnpjError, CompanyId};
use thiserror::Error;

/// A reference to a company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CompanyRef {
    /// The platform's own id.
    Id(CompanyId),
    /// The tax id, with or without mask.
    Cnpj(Cnpj),
}

/// Why a text is not a reference to a company.
#[derive(Debug, Error)]
#[error("neither a company's id nor a CNPJ: {0}")]
pub(super) struct CompanyRefError(CnpjError);

impl CompanyRef {
    /// Parses either form.
    pub(super) fn parse(text: &str) -> Result<Self, CompanyRefError> {
        if let Ok(id) = CompanyId::parse(text) {
            return Ok(Self::Id(id));
        }
        Cnpj::parse(text).map(Self::Cnpj).map_err(CompanyRefError)
    }
}

#[cfg(test)]
mod tests {
    use super::CompanyRef;

    #[test]
    fn a_company_is_named_by_its_id_or_its_tax_id() {
        let id = "018f2f3a-0000-7000-8000-000000000001";
        assert!(matches!(CompanyRef::parse(id), Ok(CompanyRef::Id(_))));
        for cnpj in ["45723001000100", "45.723.001/0001-00"] {
            let read = CompanyRef::parse(cnpj);
            assert!(matches!(read, Ok(CompanyRef::Cnpj(_))), "{cnpj}");
        }
        let error = CompanyRef::parse("45723001000101").unwrap_err().to_string();
        assert!(error.contains("check digits"), "{error}");
    }
}
