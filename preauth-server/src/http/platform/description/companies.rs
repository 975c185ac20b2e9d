//! Companies, their credit, and the suppliers that they block.

use preauth_core::ErrorCode;

use crate::http::openapi::described::Described;
use crate::http::openapi::document::Parameter;
use crate::http::openapi::schema::Schema;
use crate::http::platform::sections::{COMPANIES, COMPANY};

use super::{at, id, keyed, paged, schemas};

const HEAD_OFFICE: &str = "The id of a head office; a branch is a conflict.";

pub(super) fn all() -> Vec<Described> {
    let mut all = companies();
    all.extend(suspensions());
    all.extend(credit_analysis());
    all.extend(blocked_suppliers());
    all
}

fn companies() -> Vec<Described> {
    let described = |method, path, operation, summary| {
        Described::new(method, at(path), COMPANIES.name, operation, summary)
    };
    let cnpj = Schema::text("Only the company with this tax id.", "11222333000181");
    vec![
        paged(described(
            "get",
            "companies",
            "listCompanies",
            "List companies",
        ))
        .parameter(Parameter::query("cnpj", cnpj))
        .answers(200, "Newest first.", schemas::named("CompanyList")),
        keyed(
            described("post", "companies", "addCompany", "Register a company")
                .note(
                    "With `headOfficeId` a branch, which is of the same kind as its head office. A \
                     supplier that companies invited keeps its id, and its offers show the name \
                     that is registered.",
                )
                .body("The company.", schemas::named("NewCompany"))
                .answers(201, "Registered.", schemas::named("Company")),
        )
        .refuses(&[
            ErrorCode::ResourceNotFound,
            ErrorCode::ResourceConflict,
            ErrorCode::SupplierNotRegistered,
        ]),
        id(
            described("get", "companies/{id}", "getCompany", "Get a company"),
            COMPANY,
        )
        .answers(200, "The company.", schemas::named("Company")),
        id(
            described(
                "patch",
                "companies/{id}",
                "updateCompany",
                "Correct the name of a registered company",
            ),
            COMPANY,
        )
        .note("Lists, records and later events show it; past events and remembered answers stay.")
        .body("What is to be different.", schemas::named("CompanyChange"))
        .answers(200, "The company.", schemas::named("Company"))
        .refuses(&[ErrorCode::SupplierNotRegistered]),
        id(
            paged(described(
                "get",
                "companies/{id}/invitations",
                "listInvitations",
                "List what companies call a supplier that is not registered",
            )),
            COMPANY,
        )
        .answers(200, "Newest first.", schemas::named("InvitationList")),
    ]
}

fn suspensions() -> [Described; 2] {
    let described = |path, operation, summary| {
        Described::new("post", at(path), COMPANIES.name, operation, summary)
    };
    [
        id(
            described(
                "companies/{id}/suspend",
                "suspendCompany",
                "Forbid a company's keys",
            ),
            COMPANY,
        )
        .note(
            "From the next request on, on every instance, its keys and those of its branches are answered 403 `RBAC_FORBIDDEN` by \
             every operation of the integration API, replays included. What is under way goes on: offers may be accepted and expire, \
             operations move, webhooks and mails are sent. A company that is suspended keeps its first suspension.",
        )
        .body("Why.", schemas::named("NewSuspension"))
        .answers(200, "Suspended.", schemas::named("Company")),
        id(
            described(
                "companies/{id}/resume",
                "resumeCompany",
                "End a company's suspension",
            ),
            COMPANY,
        )
        .note("A branch whose head office is suspended stays forbidden.")
        .answers(200, "Not suspended.", schemas::named("Company")),
    ]
}

fn credit_analysis() -> [Described; 2] {
    let described = |method, operation, summary| {
        let path = at("companies/{id}/credit-analysis");
        let described = Described::new(method, path, COMPANIES.name, operation, summary);
        id(described, HEAD_OFFICE).refuses(&[ErrorCode::ResourceConflict])
    };
    [
        described(
            "get",
            "getCreditAnalysis",
            "Get what a head office and its branches may offer",
        )
        .answers(200, "The analysis.", schemas::named("CreditAnalysis")),
        described(
            "put",
            "setCreditAnalysis",
            "Set what a head office and its branches may offer",
        )
        .body("The limits.", schemas::named("NewCreditAnalysis"))
        .answers(200, "The analysis.", schemas::named("CreditAnalysis")),
    ]
}

fn blocked_suppliers() -> [Described; 4] {
    let described = |method, path: &str, operation, summary| {
        let path = at(&format!("companies/{{id}}/blocked-suppliers{path}"));
        let described = Described::new(method, path, COMPANIES.name, operation, summary);
        id(described, HEAD_OFFICE).refuses(&[ErrorCode::ResourceConflict])
    };
    let one = |method, operation, summary| {
        let cnpj = Schema::text(
            "The supplier's tax id, with or without mask.",
            "11444777000161",
        );
        described(method, "/{cnpj}", operation, summary)
            .parameter(Parameter::path("cnpj", cnpj))
            .refuses(&[ErrorCode::ValidationError])
    };
    let blocked = || schemas::named("BlockedSupplier");
    [
        paged(described(
            "get",
            "",
            "listBlockedSuppliers",
            "List blocked suppliers",
        ))
        .answers(200, "By tax id.", schemas::named("BlockedSupplierList")),
        one(
            "get",
            "getBlockedSupplier",
            "Find out whether a supplier is blocked",
        )
        .answers(200, "It is.", blocked()),
        one("put", "blockSupplier", "Block a supplier").answers(200, "Blocked.", blocked()),
        one("delete", "unblockSupplier", "Unblock a supplier").answers_empty(204, "Not blocked."),
    ]
}
