//! Commands that create an operation: an offer from an ERP, or a direct advance from a supplier.

use crate::value::{
    Cnpj, CnpjRoot, CompanyId, ContactName, Email, ExternalReference, FingerprintBuilder,
    Fingerprints, InvoiceNumber, Phone, SupplierName,
};

use super::Invoice;

/// A parsed create request: every value is well formed, and no business rule has been applied yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The company that offers.
    pub payer: CompanyId,
    /// Who receives the offer.
    pub supplier: OfferedSupplier,
    /// The invoice to advance; its number is always present here.
    pub invoice: Invoice,
    /// The caller's own identifier.
    pub external_reference: Option<ExternalReference>,
    /// Description of the invoice file, when one came with the offer.
    pub file: Option<InvoiceFile>,
}

/// The supplier as the caller describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedSupplier {
    /// Its tax id.
    pub cnpj: Cnpj,
    /// Where this operation's mail goes.
    pub email: Email,
    /// Legal name; used only to invite a supplier that is unknown to the payer's head office.
    pub name: Option<SupplierName>,
    /// Contact name; used only for the invitation.
    pub contact_name: Option<ContactName>,
    /// Telephone.
    pub phone: Option<Phone>,
}

/// Description of an invoice file; its bytes are stored elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvoiceFile {
    /// The name that the caller gave, at most 255 characters; text, never a path.
    pub name: String,
    /// The declared media type, lower case, without parameters.
    pub media_type: String,
    /// Length in bytes.
    pub size: u64,
    /// SHA-256 of the content.
    pub sha256: [u8; 32],
}

/// An advance that a supplier makes without an offer (origin DIRECT).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectAdvance {
    /// The company of the invoice, head office or branch.
    pub payer: CompanyId,
    /// The registered supplier.
    pub supplier: Cnpj,
    /// The invoice to advance.
    pub invoice: Invoice,
    /// The platform's own reference for the company, if any.
    pub external_reference: Option<ExternalReference>,
}

impl Offer {
    /// The payer and the supplier's legal entity. Offers of the same invoice agree in both, however
    /// their numbers are compared.
    #[must_use]
    pub fn parties(&self) -> (CompanyId, CnpjRoot) {
        (self.payer, self.supplier.cnpj.root())
    }

    /// Identifies the content of the request, so that two requests under one idempotency key can be
    /// compared.
    ///
    /// SHA-256 over the normalised request, so that differences of notation (key order, white space, masks,
    /// `1000` or `1000.00`, composed or decomposed accents) have no effect. Every part is prefixed with its
    /// length, an absent part differs from an empty one, and the first byte is the version of this layout.
    #[must_use]
    pub fn fingerprints(&self) -> Fingerprints {
        const LAYOUT_VERSION: u8 = 1;
        let Self {
            payer: _,
            supplier,
            invoice,
            external_reference,
            file,
        } = self;
        let mut parts = FingerprintBuilder::new(LAYOUT_VERSION);
        parts.part(Some(supplier.cnpj.as_str()));
        parts.part(Some(supplier.email.as_str()));
        parts.text(supplier.name.as_ref().map(SupplierName::as_str));
        parts.text(supplier.contact_name.as_ref().map(ContactName::as_str));
        parts.text(supplier.phone.as_ref().map(Phone::as_str));
        parts.part(Some(&invoice.amounts.amount().cents().to_string()));
        parts.part(Some(&invoice.amounts.withheld_tax().cents().to_string()));
        parts.part(Some(&invoice.due_date.to_string()));
        parts.text(invoice.number.as_ref().map(InvoiceNumber::as_str));
        parts.text(external_reference.as_ref().map(ExternalReference::as_str));
        parts.text(file.as_ref().map(|file| file.name.as_str()));
        parts.part(file.as_ref().map(|file| file.media_type.as_str()));
        parts.part(file.as_ref().map(|file| file.sha256.as_slice()));
        parts.finish()
    }
}
