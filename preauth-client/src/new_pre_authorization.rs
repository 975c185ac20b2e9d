//! The offer that an ERP sends.

use preauth_core::value::{
    Cnpj, ContactName, DueDate, Email, ExternalReference, IdempotencyKey, InvoiceNumber, Money,
    Phone, SupplierName,
};
use preauth_core::wire::{CreateInvoice, CreatePreAuthorization, CreateSupplier};

use crate::InvoiceFile;

/// An advance to be offered to a supplier.
/// [Contract, "Create request body"](https://example.com/preauth/blob/main/docs/reference.md#create-request-body).
///
/// Every part was parsed by the rules of the service before, so an invalid tax id or date is found where
/// it is read, not when it is sent.
///
/// ```
/// use preauth_client::NewPreAuthorization;
/// use preauth_client::value::Money;
///
/// let offer = NewPreAuthorization::new(
///     "12.ABC.345/01DE-35".parse()?,
///     "financeiro@fornecedor.com.br".parse()?,
///     Money::parse("1234.56")?,
///     "2026-12-21".parse()?,
///     "NF-1".parse()?,
/// )
/// .supplier_name("Fornecedor Ltda.".parse()?)
/// .contact_name("Maria Souza".parse()?)
/// .external_reference("PED-2026/0042".parse()?)
/// .idempotency_key("erp:PED-2026:0042".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct NewPreAuthorization {
    pub(crate) body: CreatePreAuthorization,
    pub(crate) file: Option<InvoiceFile>,
    pub(crate) idempotency_key: Option<IdempotencyKey>,
}

impl NewPreAuthorization {
    /// An offer with everything that is always required.
    #[must_use]
    pub fn new(
        supplier: Cnpj,
        supplier_email: Email,
        amount: Money,
        due_date: DueDate,
        invoice_number: InvoiceNumber,
    ) -> Self {
        Self::from(CreatePreAuthorization::new(
            CreateSupplier::new(supplier, supplier_email),
            CreateInvoice::new(amount.into(), due_date, invoice_number),
        ))
    }

    /// The supplier's legal name. It is required, together with [`contact_name`](Self::contact_name), when
    /// the supplier is new to the platform.
    #[must_use]
    pub fn supplier_name(mut self, name: SupplierName) -> Self {
        self.body.supplier.name = Some(name);
        self
    }

    /// The contact person at the supplier.
    #[must_use]
    pub fn contact_name(mut self, name: ContactName) -> Self {
        self.body.supplier.contact_name = Some(name);
        self
    }

    /// The supplier's telephone number.
    #[must_use]
    pub fn phone(mut self, phone: Phone) -> Self {
        self.body.supplier.phone = Some(phone);
        self
    }

    /// The tax withheld from the invoice; at least 500 reais must remain.
    #[must_use]
    pub fn withheld_tax(mut self, amount: Money) -> Self {
        self.body.invoice.withheld_tax_amount = Some(amount.into());
        self
    }

    /// The ERP's own identifier, which every answer and every webhook repeats.
    #[must_use]
    pub fn external_reference(mut self, reference: ExternalReference) -> Self {
        self.body.external_reference = Some(reference);
        self
    }

    /// The invoice file. With it the create is sent as a form, not as a JSON document.
    #[must_use]
    pub fn file(mut self, file: InvoiceFile) -> Self {
        self.file = Some(file);
        self
    }

    /// The key under which this offer is created at most once, however often it is sent, even by another
    /// process after a crash, within the 30 days (unless configured otherwise) for which the service remembers
    /// a key: do not send later what has an outcome. Without one, each call generates its own.
    ///
    /// It identifies one offer, not the invoice: after a cancel, decline or expiry the key still returns
    /// the first operation, and a new offer needs a new key.
    #[must_use]
    pub fn idempotency_key(mut self, key: IdempotencyKey) -> Self {
        self.idempotency_key = Some(key);
        self
    }
}

impl From<CreatePreAuthorization> for NewPreAuthorization {
    fn from(body: CreatePreAuthorization) -> Self {
        Self {
            body,
            file: None,
            idempotency_key: None,
        }
    }
}
