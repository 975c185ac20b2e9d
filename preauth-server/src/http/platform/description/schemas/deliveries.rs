//! Endpoints and their deliveries.

use preauth_core::port::AttemptError;
use preauth_core::value::EventType;

use crate::directory::DeliveryStatus;
use crate::http::openapi::schema::{Field, Schema, optional, required};

pub(super) fn endpoint() -> Schema {
    Schema::answer(
        "Where a head office and its branches hear of events.",
        shown(),
    )
}

pub(super) fn endpoint_with_secret() -> Schema {
    let secret = Schema::text(
        "The signing secret, shown once.",
        "whsec_96LOvZrWdKyFSmBtl_pIbkVUm67Ps35v2nq3L_XCO20",
    );
    let fields = shown().into_iter().chain([required("secret", secret)]);
    Schema::answer("An endpoint with a new signing secret.", fields)
}

fn shown() -> [Field; 8] {
    let event = Schema::open("Sent.", EventType::AnticipationPaid);
    let status = vec!["ACTIVE", "PAUSED"];
    [
        required("id", Schema::uuid("The endpoint's id.")),
        required("companyId", Schema::uuid("The head office's id.")),
        required(
            "url",
            Schema::text("Where to.", "https://erp.azul.com.br/webhooks"),
        ),
        required("events", Schema::array("What is sent.", event)),
        required(
            "status",
            Schema::open_words("Whether anything is sent.", status, "ACTIVE"),
        ),
        required(
            "pausedAt",
            Schema::timestamp("Since when it is paused.").null(),
        ),
        required("createdAt", Schema::timestamp("When it was registered.")),
        required(
            "lastSuccessAt",
            Schema::timestamp("When a delivery last arrived.").null(),
        ),
    ]
}

pub(super) fn wanted_endpoint() -> Schema {
    let url = "HTTPS on port 443 at a public address, without user and password; 2,048 bytes.";
    let event = Schema::one_of("To be sent.", EventType::ALL, EventType::AnticipationPaid);
    Schema::request(
        "Where to, and which events.",
        [
            required("url", Schema::text(url, "https://erp.azul.com.br/webhooks")),
            optional(
                "events",
                Schema::array(
                    "Which events. Needed to register; a change without it keeps them.",
                    event,
                )
                .items(1, 100),
            ),
        ],
    )
}

pub(super) fn rotation() -> Schema {
    let hours = Schema::integer("How long the old secret signs, too; 0 when absent.", 24);
    let hours = hours.at_least(0).at_most(168);
    Schema::request(
        "How long both secrets sign.",
        [optional("overlapHours", hours)],
    )
}

pub(super) fn delivery() -> Schema {
    let body = r#"{"id":"018f2f3a-0000-7000-8000-000000000001","type":"anticipation.paid","createdAt":"2026-11-21T12:00:00.000Z","data":{}}"#;
    Schema::answer(
        "An event on its way to one endpoint.",
        [
            required("id", Schema::uuid("The delivery's id.")),
            required("eventId", Schema::uuid("The event's id.")),
            required(
                "eventType",
                Schema::open("What happened.", EventType::AnticipationPaid),
            ),
            required(
                "status",
                Schema::open("Where it stands.", DeliveryStatus::Delivered),
            ),
            required(
                "nextAttemptAt",
                Schema::timestamp("When it is attempted next.").null(),
            ),
            required("createdAt", Schema::timestamp("When the event happened.")),
            required("attempts", Schema::array("Oldest first.", attempt())),
            required(
                "body",
                Schema::text("The very text that was signed and sent.", body),
            ),
        ],
    )
}

fn attempt() -> Schema {
    let errors = AttemptError::ALL.iter().map(|error| error.code());
    Schema::answer(
        "One attempt.",
        [
            required("number", Schema::integer("Which one.", 1).at_least(1)),
            required("at", Schema::timestamp("When it began.")),
            required(
                "durationMs",
                Schema::integer("How long it took, in milliseconds.", 84),
            ),
            required(
                "httpStatus",
                Schema::integer("What the endpoint answered.", 204).nullable(),
            ),
            required(
                "error",
                Schema::open_words("Where it ended, if it failed.", errors.collect(), "STATUS")
                    .null(),
            ),
            required(
                "responseBody",
                Schema::text("The answer's first KiB.", "").nullable(),
            ),
            required("trigger", Schema::text("What caused it.", "SCHEDULE")),
        ],
    )
}

pub(super) fn resend_request() -> Schema {
    let since = Schema::timestamp("Whatever failed at this moment or later, in UTC.");
    Schema::request("Since when.", [required("since", since)])
}

pub(super) fn resent() -> Schema {
    let count = count("Deliveries that are due again.", 3);
    Schema::answer("What was done.", [required("count", count)])
}

pub(super) fn master_keys() -> Schema {
    let key = Schema::answer(
        "A master key.",
        [
            required("id", master_key_id("The beginning of its SHA-256.")),
            required(
                "known",
                Schema::boolean("Whether this server has it.", true),
            ),
            required("secrets", count("Secrets in force that it encrypts.", 12)),
        ],
    );
    Schema::answer(
        "The keys that this server knows, in its file's order, then those that only secrets name.",
        [
            required(
                "active",
                master_key_id("The key that encrypts what is new."),
            ),
            required("keys", Schema::array("All of them.", key)),
            required("unreadable", count("Secrets that name no key at all.", 0)),
        ],
    )
}

pub(super) fn reencrypted() -> Schema {
    Schema::answer(
        "What was encrypted anew.",
        [
            required(
                "reencrypted",
                count(
                    "Secrets that the active key encrypts now, and did not before.",
                    12,
                ),
            ),
            required("unopened", count("Secrets that no known key opens.", 0)),
        ],
    )
}

fn master_key_id(description: &str) -> Schema {
    Schema::text(description, "1f40fc92")
}

fn count(description: &str, example: i64) -> Schema {
    Schema::integer(description, example).at_least(0)
}
