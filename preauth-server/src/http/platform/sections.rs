//! The sections of the description, and the texts that several of them use.

use crate::http::openapi::document::Tag;

/// The description of a path's `{id}`.
pub(super) const COMPANY: &str = "The company's id.";
/// The same where only head offices have such records.
pub(super) const HEAD_OFFICE: &str = "The id of a head office; a branch is a conflict.";
/// The same for an operation.
pub(super) const OPERATION: &str = "The operation's id.";

/// Declares the sections in the order of the description.
macro_rules! sections {
    ($($section:ident = $name:literal, $description:literal;)+) => {
        $(pub(super) const $section: Tag = Tag {
            name: $name,
            description: $description,
        };)+

        /// In the order of the description.
        pub(super) const ALL: &[Tag] = &[$($section),+];
    };
}

sections! {
    PROBES = "probes",
        "Probes and metrics for orchestrators and monitors, without a token.";
    OPERATORS = "operators",
        "Who may call this API: named operators with a role and a token each.";
    COMPANIES = "companies",
        "Construction companies, suppliers and their branches; credit analyses; block lists.";
    ACCESS = "access",
        "Users of companies, and the API keys that act in their names.";
    WEBHOOK_ENDPOINTS = "webhook-endpoints",
        "Where a head office and its branches receive events; one each.";
    DELIVERIES = "deliveries",
        "Deliveries to an endpoint: their bodies, attempts and answers.";
    MAILS = "notices",
        "Mails to suppliers and companies, and their outcomes.";
    PERSONAL_DATA = "personal-data",
        "What is stored of the persons of a company: a copy of it, and its erasure.";
    MASTER_KEYS = "master-keys",
        "Keys that encrypt the signing secrets. The keys themselves never leave the server.";
    OPERATIONS = "operations",
        "Offers and advances, everything that moves them, and extensions of their boletos.";
    RECORDS = "records",
        "Received invoices and payment orders.";
    SANDBOX = "sandbox",
        "Operations that only a sandbox has.";
}
