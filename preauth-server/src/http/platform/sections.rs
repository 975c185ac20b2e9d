//! The sections of the description, and what several of them share.

use crate::http::openapi::document::Tag;

/// In the order of the description.
pub(super) const ALL: [Tag; 10] = [
    PROBES,
    COMPANIES,
    ACCESS,
    WEBHOOK_ENDPOINTS,
    DELIVERIES,
    MAILS,
    MASTER_KEYS,
    OPERATIONS,
    RECORDS,
    SANDBOX,
];

/// Of a path's `{id}`.
pub(super) const COMPANY: &str = "The company's id.";
/// The same where only a head office has what is asked for.
pub(super) const HEAD_OFFICE: &str = "The id of a head office; a branch is a conflict.";
/// The same of an operation.
pub(super) const OPERATION: &str = "The operation's id.";

pub(super) const PROBES: Tag = Tag {
    name: "probes",
    description: "What an orchestrator and a monitor ask, without a token.",
};
pub(super) const COMPANIES: Tag = Tag {
    name: "companies",
    description: "Construction companies, suppliers and their branches; credit analyses; block lists.",
};
pub(super) const ACCESS: Tag = Tag {
    name: "access",
    description: "Users of companies, and the API keys that act in their names.",
};
pub(super) const WEBHOOK_ENDPOINTS: Tag = Tag {
    name: "webhook-endpoints",
    description: "Where a head office and its branches receive events; one each.",
};
pub(super) const DELIVERIES: Tag = Tag {
    name: "deliveries",
    description: "What was sent to an endpoint, how often, and how it answered.",
};
pub(super) const MAILS: Tag = Tag {
    name: "notices",
    description: "Mails to suppliers and companies, and how they fared.",
};
pub(super) const MASTER_KEYS: Tag = Tag {
    name: "master-keys",
    description: "What the signing secrets are encrypted with. The keys themselves never leave the server.",
};
pub(super) const OPERATIONS: Tag = Tag {
    name: "operations",
    description: "Offers and advances, everything that moves them, and extensions of their boletos.",
};
pub(super) const RECORDS: Tag = Tag {
    name: "records",
    description: "Received invoices and payment orders.",
};
pub(super) const SANDBOX: Tag = Tag {
    name: "sandbox",
    description: "What only a sandbox has.",
};
