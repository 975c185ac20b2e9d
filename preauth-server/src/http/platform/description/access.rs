//! Users and API keys.

use preauth_core::ErrorCode;

use crate::http::openapi::described::Described;
use crate::http::openapi::headers;
use crate::http::platform::sections::{ACCESS, COMPANY};

use super::{at, id, keyed, paged, schemas};

pub(super) fn all() -> Vec<Described> {
    api_keys()
}

fn described(
    method: &'static str,
    path: &str,
    operation: &'static str,
    summary: &'static str,
) -> Described {
    Described::new(method, at(path), ACCESS.name, operation, summary)
}

fn api_keys() -> Vec<Described> {
    let of_company = "companies/{id}/api-keys";
    let one = |method, operation, summary| {
        id(
            described(method, "api-keys/{id}", operation, summary),
            "The key's id.",
        )
    };
    vec![
        paged(id(
            described(
                "get",
                of_company,
                "listApiKeys",
                "List a company's API keys",
            ),
            COMPANY,
        ))
        .answers(200, "Newest first.", schemas::named("ApiKeyList")),
        keyed(
            id(
                described("post", of_company, "addApiKey", "Make an API key"),
                COMPANY,
            )
            .note(
                "The clear text is in the first answer and nowhere else. When that was lost, an answer that is repeated under the \
                 `Idempotency-Key` says which key was made: revoke it, and make another.",
            )
            .body("What the key is for.", schemas::named("ApiKeyRequest"))
            .answers(201, "Made.", schemas::named("NewApiKey")),
        )
        .header(headers::CACHE_CONTROL)
        .refuses(&[
            ErrorCode::ResponsibleUserRefused,
            ErrorCode::SupplierNotRegistered,
        ]),
        described(
            "post",
            "api-key-search",
            "searchApiKeys",
            "Find the key that a leaked text is of",
        )
        .note(
            "In all companies, revoked and expired keys included. A whole key finds that key; its beginning finds those that begin \
             alike. Nothing of the text is kept or logged.",
        )
        .body("The text.", schemas::named("ApiKeySearch"))
        .answers(200, "What was found.", schemas::named("FoundApiKeys")),
        one("get", "getApiKey", "Get an API key").answers(
            200,
            "The key.",
            schemas::named("ApiKey"),
        ),
        one("delete", "revokeApiKey", "Revoke an API key")
            .note("It opens nothing any more within a second, on every instance.")
            .answers_empty(204, "Revoked."),
    ]
}
