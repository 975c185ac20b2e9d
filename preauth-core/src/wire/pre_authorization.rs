//! The resource of the API: a pre-authorization or an advance.

use serde::{Deserialize, Serialize};

use super::{Amount, Open, number, text};
use crate::value::{Cnpj, DueDate, OperationId, Status, Timestamp};

/// A pre-authorization or an advance, as create, get and cancel return it and lists contain it.
///
/// [Contract, "Operation"](https://example.com/preauth/blob/main/docs/reference.md#operation).
/// Empty fields are written as `null`, never omitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct PreAuthorization {
    /// The `{id}` of get and cancel, and the `anticipationId` of webhooks.
    #[serde(with = "number")]
    pub id: OperationId,
    /// Its status.
    pub status: Open<Status>,
    /// The caller's own identifier, as it was sent.
    #[serde(default)]
    pub external_reference: Option<String>,
    /// The head office on creation, afterwards the company of the invoice.
    pub payer: Party,
    /// The supplier that receives the advance.
    pub supplier: SupplierParty,
    /// The invoice that is advanced.
    pub invoice: Invoice,
    /// The deadline for the supplier's request; `None` for direct advances.
    #[serde(with = "text::optional", default)]
    pub expires_at: Option<Timestamp>,
    /// When it was created.
    #[serde(with = "text")]
    pub created_at: Timestamp,
}

/// A company with a name: the payer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct Party {
    /// Its tax id, without mask.
    #[serde(with = "text")]
    pub cnpj: Cnpj,
    /// Its legal name.
    pub name: String,
}

/// A company whose name may be unknown: the supplier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct SupplierParty {
    /// Its tax id, without mask.
    #[serde(with = "text")]
    pub cnpj: Cnpj,
    /// Its name as registered on the platform.
    #[serde(default)]
    pub name: Option<String>,
}

/// The invoice of a pre-authorization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct Invoice {
    /// Gross amount.
    pub amount: Amount,
    /// When the company pays it.
    #[serde(with = "text")]
    pub due_date: DueDate,
    /// Its number; a direct advance may have none.
    #[serde(default)]
    pub number: Option<String>,
    /// The withheld tax; 0 when the caller sent none.
    #[serde(default)]
    pub withheld_tax_amount: Amount,
}

/// One page of a list, most recent first.
/// [Contract, `PreAuthorizationList`](https://example.com/preauth/blob/main/docs/reference.md#preauthorizationlist).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct PreAuthorizationList {
    /// The entries of this page.
    pub data: Vec<PreAuthorization>,
    /// The position of this page, and the number of pages.
    pub pagination: Pagination,
}

/// The position of a page among all pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct Pagination {
    /// The number of this page, from 1.
    pub page: u64,
    /// Maximum number of entries on a page.
    pub limit: u32,
    /// Total number of entries on all pages.
    pub total: u64,
    /// Number of pages that have entries; 0 if there is none.
    pub total_pages: u64,
}

impl PreAuthorization {
    /// An operation whose nullable fields are `None`.
    #[must_use]
    pub fn new(
        id: OperationId,
        status: impl Into<Open<Status>>,
        payer: Party,
        supplier: SupplierParty,
        invoice: Invoice,
        created_at: Timestamp,
    ) -> Self {
        Self {
            id,
            status: status.into(),
            external_reference: None,
            payer,
            supplier,
            invoice,
            expires_at: None,
            created_at,
        }
    }
}

impl Party {
    /// The company with this tax id and name.
    #[must_use]
    pub fn new(cnpj: Cnpj, name: impl Into<String>) -> Self {
        Self {
            cnpj,
            name: name.into(),
        }
    }
}

impl SupplierParty {
    /// The company with this tax id; `None` when its name is not known.
    #[must_use]
    pub const fn new(cnpj: Cnpj, name: Option<String>) -> Self {
        Self { cnpj, name }
    }
}

impl Invoice {
    /// An invoice without a number, from which nothing is withheld.
    #[must_use]
    pub fn new(amount: Amount, due_date: DueDate) -> Self {
        Self {
            amount,
            due_date,
            number: None,
            withheld_tax_amount: Amount::default(),
        }
    }
}

impl PreAuthorizationList {
    /// A page with these entries.
    #[must_use]
    pub const fn new(data: Vec<PreAuthorization>, pagination: Pagination) -> Self {
        Self { data, pagination }
    }
}

impl Pagination {
    /// The position of page `page`, with `limit` entries per page and `total` entries on all pages.
    #[must_use]
    pub fn new(page: u64, limit: u32, total: u64) -> Self {
        Self {
            page,
            limit,
            total,
            total_pages: total.div_ceil(u64::from(limit).max(1)),
        }
    }
}
