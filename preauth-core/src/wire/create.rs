//! The body of a create.

use serde::Serialize;

use super::{Amount, text};
use crate::value::{
    Cnpj, ContactName, DueDate, Email, ExternalReference, InvoiceNumber, Phone, SupplierName,
};

/// The body of a create, as a client sends it. Optional fields that are `None` are left out.
///
/// [Contract, "Create request body"](https://example.com/preauth/blob/main/docs/reference.md#create-request-body).
/// This type is only serialized: the service reads bodies with its own parser, which reports every
/// problem of every field at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct CreatePreAuthorization {
    /// The supplier that is offered the advance.
    pub supplier: CreateSupplier,
    /// The invoice to be advanced.
    pub invoice: CreateInvoice,
    /// The caller's own identifier.
    #[serde(with = "text::optional", skip_serializing_if = "Option::is_none")]
    pub external_reference: Option<ExternalReference>,
}

/// The supplier of a create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct CreateSupplier {
    /// Its tax id.
    #[serde(with = "text")]
    pub cnpj: Cnpj,
    /// The address to which the mail about this offer is sent.
    #[serde(with = "text")]
    pub email: Email,
    /// Its legal name; required when the supplier is new to the platform.
    #[serde(with = "text::optional", skip_serializing_if = "Option::is_none")]
    pub name: Option<SupplierName>,
    /// The contact person; required when the supplier is new to the platform.
    #[serde(with = "text::optional", skip_serializing_if = "Option::is_none")]
    pub contact_name: Option<ContactName>,
    /// Its telephone.
    #[serde(with = "text::optional", skip_serializing_if = "Option::is_none")]
    pub phone: Option<Phone>,
}

/// The invoice of a create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct CreateInvoice {
    /// Gross amount, 500 to 10,000,000 reais.
    pub amount: Amount,
    /// When the company pays it: 5 to 180 days from today in São Paulo.
    #[serde(with = "text")]
    pub due_date: DueDate,
    /// Its number.
    #[serde(with = "text")]
    pub number: InvoiceNumber,
    /// The withheld tax; at least 500 reais must remain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withheld_tax_amount: Option<Amount>,
}

impl CreatePreAuthorization {
    /// A create without an external reference.
    #[must_use]
    pub const fn new(supplier: CreateSupplier, invoice: CreateInvoice) -> Self {
        Self {
            supplier,
            invoice,
            external_reference: None,
        }
    }
}

impl CreateSupplier {
    /// A supplier that the platform already knows; a new one also needs `name` and `contact_name`.
    #[must_use]
    pub const fn new(cnpj: Cnpj, email: Email) -> Self {
        Self {
            cnpj,
            email,
            name: None,
            contact_name: None,
            phone: None,
        }
    }
}

impl CreateInvoice {
    /// An invoice from which nothing is withheld.
    #[must_use]
    pub const fn new(amount: Amount, due_date: DueDate, number: InvoiceNumber) -> Self {
        Self {
            amount,
            due_date,
            number,
            withheld_tax_amount: None,
        }
    }
}
