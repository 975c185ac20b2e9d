//! Mails.

use preauth_core::port::MailKind;

use crate::directory::MailStatus;
use crate::http::openapi::schema::{Schema, required};

pub(super) fn mail() -> Schema {
    Schema::answer(
        "A mail to a supplier, or to a company's users.",
        [
            required("id", Schema::uuid("The mail's id, and its Message-ID.")),
            required("kind", Schema::open("What it tells.", MailKind::Offer)),
            required(
                "operationId",
                Schema::integer("The operation that it tells of.", 42).nullable(),
            ),
            required(
                "recipient",
                Schema::text("Where it goes.", "financeiro@fornecedor.com.br"),
            ),
            required(
                "status",
                Schema::open(
                    "Where it stands; HELD: its address has had its share of the day; CANCELED: its \
                     offer ended before it left.",
                    MailStatus::Sent,
                ),
            ),
            required("createdAt", Schema::timestamp("When it was staged.")),
            required(
                "nextAttemptAt",
                Schema::timestamp("When it is tried next.").null(),
            ),
            required(
                "endedAt",
                Schema::timestamp("When it was sent, given up or canceled.").nullable(),
            ),
            required(
                "attempts",
                Schema::integer("Attempts made so far.", 1).at_least(0),
            ),
            required(
                "lastError",
                Schema::text("Why the last attempt failed.", "").null(),
            ),
            required(
                "joinedTo",
                Schema::uuid(
                    "The mail in which it was or will be sent, together with others to its address. \
                     That one is sent again for all of them.",
                )
                .null(),
            ),
        ],
    )
}
