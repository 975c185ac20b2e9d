//! POST /api-key-search: finds the key that a leaked text belongs to. A POST, because a key must
//! not be part of a path or query, which proxies log.

use preauth_core::value::CompanyId;
use salvo::async_trait;
use salvo::http::Request;

use crate::access::{KeyFragment, MIN_FRAGMENT_CHARACTERS};
use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::{answer, request};
use crate::http::platform::PlatformApi;
use crate::http::platform::companies::CompanyShape;
use crate::http::platform::endpoint::{Endpoint, ok};
use crate::http::platform::sections::ACCESS;
use crate::http::problem::Defect;
use crate::http::reply::Reply;
use crate::http::requested::RequestedObject;

use super::shape::ApiKeyShape;

/// Maximum number of keys shown; a longer prefix finds fewer.
const MAX_FOUND: u32 = 100;

answer! {
    /// The keys that begin like the text, or the one that the text is.
    #[derive(Debug)]
    pub(crate) struct Found = "FoundApiKeys" {
        /// At most 100.
        data: Vec<FoundKey>,
        /// Whether there are more than are shown; a longer beginning finds fewer.
        has_more: bool = false,
    }
}

answer! {
    /// A key, and whose it is.
    #[derive(Debug)]
    pub(crate) struct FoundKey = "FoundApiKey" {
        ..key: ApiKeyShape,
        company: CompanyShape,
    }
}

request! {
    /// The leaked text to search for.
    pub(crate) struct KeySearch = "ApiKeySearch" {
        /// A text that holds a key or how one begins, 13 characters at least; everything after the
        /// beginning is cut off before the search.
        text: String = "service_sk_fc1e" => |it| it.pattern("service_sk_[0-9a-f]{2}"),
    }
}

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Search;

#[async_trait]
impl Endpoint for Search {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(
                ACCESS,
                "searchApiKeys",
                "Find a leaked key",
            )
            .note(
                "In all companies, revoked and expired keys included. A whole key finds that key; its beginning finds those that begin \
                 alike. Nothing of the text is kept or logged.",
            )
            .body("The text.", Schema::of::<KeySearch>())
            .answers(200, "The keys that were found.", Schema::of::<Found>())
    }

    fn only_reads(&self) -> bool {
        true
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let KeySearch { text } = KeySearch::parse(&api.json(req).await?)?;
        let fragment = KeyFragment::cut(&text).map_err(|_| {
            let min = MIN_FRAGMENT_CHARACTERS;
            ApiError::problem("text", Defect::NotAKey { min })
        })?;
        let limit = MAX_FOUND.saturating_add(1);
        let keys = api.directory.find_api_keys(&fragment, limit).await?;
        let max_found = usize::try_from(MAX_FOUND).unwrap_or(usize::MAX);
        let mut found = Found {
            has_more: keys.len() > max_found,
            data: Vec::new(),
        };
        let mut last: Option<(CompanyId, CompanyShape)> = None;
        for key in keys.iter().take(max_found) {
            let company = match &last {
                Some((id, company)) if *id == key.company => company.clone(),
                _ => match api.directory.company(key.company).await? {
                    Some(company) => CompanyShape::from(&company),
                    // Companies are never removed.
                    None => continue,
                },
            };
            last = Some((key.company, company.clone()));
            let key = ApiKeyShape::new(key, api.clock.now());
            found.data.push(FoundKey { key, company });
        }
        Ok(ok(&found))
    }
}
