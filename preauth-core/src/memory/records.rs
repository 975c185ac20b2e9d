//! The records that the platform registers.

use crate::value::{
    Cnpj, CompanyId, CompanyKind, CompanyName, EndpointId, EventTypeSet, Timestamp,
};

/// A company as the platform registers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Company {
    /// Its id.
    pub id: CompanyId,
    /// Its head office; `None` when it is a head office itself.
    pub head_office: Option<CompanyId>,
    /// Its tax id; no two companies have the same.
    pub cnpj: Cnpj,
    /// Its legal name.
    pub name: CompanyName,
    /// Its role on the platform.
    pub kind: CompanyKind,
}

/// A webhook endpoint as the platform registers it: one per company, at its head office.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its id.
    pub id: EndpointId,
    /// The head office that registers it.
    pub head_office: CompanyId,
    /// The URL for deliveries.
    pub url: String,
    /// The event types that it chose.
    pub events: EventTypeSet,
    /// The signing secret, encrypted as the host stores it.
    pub sealed_secret: Vec<u8>,
    /// When it was registered; until its first success it counts as healthy since then.
    pub registered_at: Timestamp,
}
