//! The filter and the page of a list.

use preauth_core::value::{ExternalReference, Status};
use reqwest::Url;

/// Maximum number of entries of a page.
/// [Contract, "Limits"](https://example.com/preauth/blob/main/docs/reference.md#limits).
const MAX_ENTRIES: u32 = 100;

/// Minimum number of entries of a request that reads all pages. Its windows overlap; with fewer entries
/// a window might not reach past the one before it.
const MIN_ENTRIES: u32 = 20;

/// Which operations to list, and which page of them.
/// [Contract, "GET /api/integration/v1/pre-authorizations"](https://example.com/preauth/blob/main/docs/reference.md#get-apiintegrationv1pre-authorizations).
///
/// ```
/// use preauth_client::ListFilter;
/// use preauth_client::value::Status;
///
/// let to_be_paid = ListFilter::new()
///     .status(Status::ToPay)
///     .status(Status::ToBill)
///     .limit(100);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListFilter {
    external_reference: Option<ExternalReference>,
    statuses: Vec<Status>,
    page: Option<u64>,
    limit: Option<u32>,
}

impl ListFilter {
    /// No filter: the first page of 20 operations, most recent first.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only operations with exactly this reference.
    #[must_use]
    pub fn external_reference(mut self, reference: ExternalReference) -> Self {
        self.external_reference = Some(reference);
        self
    }

    /// Only operations in this status; several calls accept several statuses.
    #[must_use]
    pub fn status(mut self, status: Status) -> Self {
        self.statuses.push(status);
        self
    }

    /// The page, from 1. The service refuses 0. [`Client::list_all`](crate::Client::list_all) ignores
    /// it.
    #[must_use]
    pub fn page(mut self, page: u64) -> Self {
        self.page = Some(page);
        self
    }

    /// Entries per page, 1 to 100. The service refuses anything else.
    /// [`Client::list_all`](crate::Client::list_all) asks for 100 at a time, or for as many as this sets
    /// between 20 and 100.
    #[must_use]
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Maximum number of entries of one request when all pages are read.
    pub(crate) fn entries_per_request(&self) -> u32 {
        self.limit
            .unwrap_or(MAX_ENTRIES)
            .clamp(MIN_ENTRIES, MAX_ENTRIES)
    }

    /// Writes the filter as the query of `url`.
    pub(crate) fn write_query(&self, url: &mut Url) {
        if *self == Self::default() {
            return;
        }
        let mut query = url.query_pairs_mut();
        if let Some(reference) = &self.external_reference {
            query.append_pair("externalReference", reference.as_str());
        }
        for status in &self.statuses {
            query.append_pair("status", status.as_str());
        }
        if let Some(page) = self.page {
            query.append_pair("page", &page.to_string());
        }
        if let Some(limit) = self.limit {
            query.append_pair("limit", &limit.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(filter: &ListFilter) -> Option<String> {
        let mut url = Url::parse("https://example.com/x").unwrap();
        filter.write_query(&mut url);
        url.query().map(str::to_owned)
    }

    #[test]
    fn no_filter_is_no_query() {
        assert_eq!(query(&ListFilter::new()), None);
    }

    #[test]
    fn statuses_are_repeated_and_references_escaped() {
        let filter = ListFilter::new()
            .external_reference(" a&b=c/é ".parse().unwrap())
            .status(Status::ToPay)
            .status(Status::Reproved)
            .page(2)
            .limit(50);
        let expected =
            "externalReference=+a%26b%3Dc%2F%C3%A9+&status=TO_PAY&status=REPROVED&page=2&limit=50";
        assert_eq!(query(&filter).as_deref(), Some(expected));
    }
}
