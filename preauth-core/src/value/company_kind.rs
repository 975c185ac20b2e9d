//! The role of a company on the platform.

use super::Cnpj;
use super::text_enum::text_enum;

text_enum! {
    /// A company's role on the platform.
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum CompanyKind, "company kind" {
        /// A construction company: pays invoices, and may offer advances on them.
        Construction => "CONSTRUCTION",
        /// A supplier, which receives offers.
        Supplier => "SUPPLIER",
    }
}

impl CompanyKind {
    /// Whether a company of this kind may have this tax id: the contract shows payers with digits
    /// only.
    #[must_use]
    pub fn accepts(self, cnpj: &Cnpj) -> bool {
        match self {
            Self::Construction => cnpj.is_numeric(),
            Self::Supplier => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cnpj, CompanyKind};

    #[test]
    fn only_suppliers_have_letters_in_their_tax_id() {
        let cnpj = |text: &str| Cnpj::parse(text).unwrap();
        let (numeric, alphanumeric) = (cnpj("11222333000181"), cnpj("12ABC34501DE35"));
        assert!(CompanyKind::Construction.accepts(&numeric));
        assert!(!CompanyKind::Construction.accepts(&alphanumeric));
        assert!(CompanyKind::Supplier.accepts(&numeric));
        assert!(CompanyKind::Supplier.accepts(&alphanumeric));
    }
}
