//! The resource of the API: a pre-authorization or an advance.

use serde::{Deserialize, Serialize};

use super::{Amount, Open, number, text};
use crate::value::{Cnpj, DueDate, OperationId, Status, Timestamp};

/// A pre-authorization or an advance as create, get and cancel answer it, and lists hold it.
///
/// [Contract, "Operation"](https://example.com/preauth/blob/main/docs/reference.md#operation).
/// Empty fields are
/// written as `null`, never left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct PreAuthorization {
    /// The `{id}` of get and cancel, and the `anticipationId` of webhooks.
    #[serde(with = "number")]
    pub id: OperationId,
    /// Where it stands.
    pub status: Open<Status>,
    /// Echo of what the caller sent.
    #[serde(default)]
    pub external_reference: Option<String>,
    /// The head office on creation, afterwards the company of the invoice.
    pub payer: Party,
    /// Who receives the advance.
    pub supplier: SupplierParty,
    /// What is advanced.
    pub invoice: Invoice,
    /// Until when the supplier may request the advance; `None` for direct advances.
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
    /// Its number; a direct advance may come without.
    #[serde(default)]
    pub number: Option<String>,
    /// What is withheld; 0 when the caller sent none.
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
    /// Which page this is, and how many there are.
    pub pagination: Pagination,
}

/// Where a page stands among all pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub struct Pagination {
    /// The number of this page, from 1.
    pub page: u64,
    /// The most entries a page may have.
    pub limit: u32,
    /// Entries on all pages together.
    pub total: u64,
    /// Pages that have entries; 0 when there is none.
    pub total_pages: u64,
}

impl PreAuthorization {
    /// An operation. Whatever may be `null` is `None`.
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
    /// The place of page `page` of `limit` entries each, of `total` in all.
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
