//! Companies, credit analyses, block lists.

use super::{cnpj, money};
use preauth_core::value::CompanyKind;

use crate::http::openapi::schema::{Field, Schema, optional, required};
use crate::http::openapi::shared;

const REASON: &str = "Contrato em revisão";

pub(super) fn company() -> Schema {
    Schema::answer(
        "A company; a supplier is one, too.",
        [
            required("id", Schema::uuid("The company's id.")),
            required("cnpj", Schema::text(shared::CNPJ, "11222333000181")),
            required(
                "name",
                Schema::text(
                    "Legal name; null while it is not registered.",
                    "Construtora Exemplo S.A.",
                )
                .nullable(),
            ),
            required(
                "kind",
                Schema::open("What it does.", CompanyKind::Construction),
            ),
            required(
                "headOfficeId",
                Schema::uuid("Of a branch: its head office.").null(),
            ),
            required(
                "registered",
                Schema::boolean(
                    "False for a supplier that companies invited and the platform has not registered.",
                    true,
                ),
            ),
            required("contact", contact().null()),
            required(
                "createdAt",
                Schema::timestamp("When it was registered, or first invited."),
            ),
            required("suspension", suspension().null()),
        ],
    )
}

fn suspension() -> Schema {
    Schema::answer(
        "The company's own suspension; that of its head office counts as well.",
        [
            required("since", Schema::timestamp("Since when.")),
            required("reason", Schema::text("Why.", REASON)),
        ],
    )
}

pub(super) fn new_suspension() -> Schema {
    Schema::request(
        "A suspension.",
        [required(
            "reason",
            Schema::text("Why.", REASON).visible(1, 255),
        )],
    )
}

fn contact() -> Schema {
    Schema::answer(
        "Whom to speak to.",
        [
            required("name", Schema::text("Name.", "Bruno Lima")),
            required("email", Schema::email("Address.")),
            required(
                "phone",
                Schema::text("Telephone.", "+55 11 5555-0100").nullable(),
            ),
        ],
    )
}

pub(super) fn company_change() -> Schema {
    Schema::request(
        "What is to be different; what is absent stays.",
        [optional(
            "name",
            Schema::text("Legal name.", "Construtora Exemplo S.A.")
                .visible(1, 255)
                .nullable(),
        )],
    )
}

pub(super) fn invitation() -> Schema {
    Schema::answer(
        "What a company calls a supplier that is not registered; nobody else sees it.",
        [
            required("headOfficeId", Schema::uuid("The company that invited it.")),
            required(
                "name",
                Schema::text("Its name there.", "Fornecedor Exemplo Ltda."),
            ),
            required("contact", contact()),
            required("invitedAt", Schema::timestamp("When it first offered.")),
        ],
    )
}

pub(super) fn new_company() -> Schema {
    Schema::request(
        "A company.",
        [
            required("cnpj", cnpj("Digits only for a construction company.")),
            required(
                "name",
                Schema::text("Legal name.", "Construtora Exemplo S.A.").visible(1, 255),
            ),
            required(
                "kind",
                Schema::one_of("What it does.", CompanyKind::ALL, CompanyKind::Construction),
            ),
            optional(
                "headOfficeId",
                Schema::uuid("Makes it a branch.").nullable(),
            ),
        ],
    )
}

pub(super) fn credit_analysis() -> Schema {
    let [days, amount] = limits();
    let company = required("companyId", Schema::uuid("The head office's id."));
    Schema::answer(
        "What a head office and its branches may offer.",
        [company, days, amount],
    )
}

pub(super) fn new_credit_analysis() -> Schema {
    Schema::request("What a head office and its branches may offer.", limits())
}

fn limits() -> [Field; 2] {
    let days = "Longest term, in days from today; 0 allows nothing.";
    [
        required(
            "maxTermDays",
            Schema::integer(days, 120).at_least(0).at_most(3_650),
        ),
        required(
            "maxInvoiceAmount",
            money("Greatest amount of an invoice, in reais.", 250_000.0),
        ),
    ]
}

pub(super) fn blocked_supplier() -> Schema {
    let cnpj = Schema::text(shared::CNPJ, "11444777000161");
    Schema::answer(
        "A supplier whom the company does not deal with.",
        [required("cnpj", cnpj)],
    )
}
