//! Keys.

use preauth_core::access::{KeyState, VALIDITY_DAYS};
use preauth_core::value::Scope;

use crate::http::openapi::schema::{Field, Schema, optional, required};

pub(super) fn api_key() -> Schema {
    Schema::answer("A key, as it can be shown.", shown())
}

pub(super) fn new_api_key() -> Schema {
    let key = Schema::text(
        "The clear text, shown once: absent when an Idempotency-Key repeats the answer.",
        "service_sk_fc1e46c2d43218c6640cc1cd1aca78cd26de8a550af2e4248153037f",
    );
    Schema::answer(
        "A new key.",
        shown().into_iter().chain([optional("key", key)]),
    )
}

pub(super) fn api_key_search() -> Schema {
    let text = "A text that holds a key or how one begins, 13 characters at least; everything behind the beginning is cut off before the search.";
    Schema::request(
        "What leaked.",
        [required("text", Schema::text(text, "service_sk_fc1e"))],
    )
}

pub(super) fn found_api_key(company: Schema) -> Schema {
    Schema::answer(
        "A key, and whose it is.",
        shown().into_iter().chain([required("company", company)]),
    )
}

pub(super) fn found_api_keys(found: Schema) -> Schema {
    let has_more = "Whether there are more than are shown; a longer beginning finds fewer.";
    Schema::answer(
        "The keys that begin like the text, or the one that the text is.",
        [
            required("data", Schema::array("At most 100.", found)),
            required("hasMore", Schema::boolean(has_more, false)),
        ],
    )
}

pub(super) fn api_key_request() -> Schema {
    let scope = Schema::one_of("Opens this.", Scope::OFFERED, Scope::PreauthRead);
    Schema::request(
        "What the key is for.",
        [
            required(
                "name",
                Schema::text("What it is called.", "ERP").visible(1, 100),
            ),
            required(
                "responsibleUserId",
                Schema::uuid("In whose name it acts; a user of the company with both permissions."),
            ),
            required(
                "scopes",
                Schema::array("What it opens.", scope).items(1, 100),
            ),
            optional(
                "validityDays",
                Schema::integer("How long it is valid; 365 when absent.", 365)
                    .among(&VALIDITY_DAYS.map(i64::from)),
            ),
        ],
    )
}

fn shown() -> [Field; 11] {
    let scope = Schema::open("Opens this.", Scope::PreauthRead);
    [
        required("id", Schema::uuid("The key's id.")),
        required("companyId", Schema::uuid("The company's id.")),
        required("name", Schema::text("What it is called.", "ERP")),
        required("responsibleUserId", Schema::uuid("In whose name it acts.")),
        required("scopes", Schema::array("What it opens.", scope)),
        required(
            "prefix",
            Schema::text("How the clear text begins.", "service_sk_fc1e"),
        ),
        required(
            "state",
            Schema::open("What a caller would be told.", KeyState::Active),
        ),
        required("createdAt", Schema::timestamp("When it was made.")),
        required(
            "expiresAt",
            Schema::timestamp("From when on it is refused."),
        ),
        required(
            "revokedAt",
            Schema::timestamp("When it was revoked.").null(),
        ),
        required(
            "lastUsedAt",
            Schema::timestamp("When it was used last, roughly.").null(),
        ),
    ]
}
