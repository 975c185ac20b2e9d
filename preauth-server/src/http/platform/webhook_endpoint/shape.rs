//! An endpoint in answers and requests.

use chrono::TimeDelta;
use preauth_core::text_enum;
use preauth_core::value::{CompanyId, EndpointId, EventType, EventTypeSet, Timestamp};
use preauth_core::wire::Open;

use crate::directory;
use crate::http::openapi::shape::{answer, request};
use crate::http::requested::{optional, whole};

/// Maximum overlap of secrets: a week.
const MAX_OVERLAP_HOURS: u16 = 168;

text_enum! {
    /// Whether an endpoint is sent to.
    pub(crate) enum EndpointStatus, "endpoint status" {
        /// It is.
        Active => "ACTIVE",
        /// Its events are kept.
        Paused => "PAUSED",
    }
}

answer! {
    /// Where a head office and its branches receive events.
    #[derive(Debug)]
    pub(crate) struct EndpointShape = "WebhookEndpoint" {
        /// The endpoint's id.
        id: EndpointId,
        /// The head office's id.
        company_id: CompanyId,
        /// Where to.
        url: String = "https://erp.azul.com.br/webhooks",
        /// The types of the events that are sent.
        events: Vec<Open<EventType>> = vec!["anticipation.paid"] => |it| it.each("Sent."),
        /// Whether anything is sent.
        status: Open<EndpointStatus>,
        /// Since when it is paused.
        paused_at: Option<Timestamp>,
        /// When it was registered.
        created_at: Timestamp,
        /// When a delivery last arrived.
        last_success_at: Option<Timestamp>,
        /// Until when an earlier signing secret signs, too, after a rotation with an overlap.
        earlier_secret_until: Option<Timestamp>,
    }
}

// No `Debug`: it has the secret.
answer! {
    /// An endpoint with a new signing secret.
    pub(crate) struct EndpointWithSecret = "WebhookEndpointWithSecret" {
        ..endpoint: EndpointShape,
        /// The signing secret, shown once.
        secret: String = "whsec_96LOvZrWdKyFSmBtl_pIbkVUm67Ps35v2nq3L_XCO20",
    }
}

impl EndpointShape {
    pub(super) fn new(endpoint: &directory::Endpoint, now: Timestamp) -> Self {
        let status = if endpoint.paused_at.is_some() {
            EndpointStatus::Paused
        } else {
            EndpointStatus::Active
        };
        Self {
            id: endpoint.id,
            company_id: endpoint.company,
            url: endpoint.url.clone(),
            events: endpoint.events.iter().map(Into::into).collect(),
            status: status.into(),
            paused_at: endpoint.paused_at,
            created_at: endpoint.created_at,
            last_success_at: endpoint.last_success_at,
            earlier_secret_until: endpoint.earlier_secrets_until.filter(|until| *until > now),
        }
    }
}

request! {
    /// The URL and the types of events.
    #[derive(Debug, PartialEq, Eq)]
    pub(crate) struct WantedEndpoint = "WantedEndpoint" {
        // Validated later than the other fields, because its refusals have a code of their own.
        /// HTTPS on port 443 at a public address, without user and password; 2,048 bytes.
        url: String = "https://erp.azul.com.br/webhooks",
        /// Which events. Needed to register; a change without it keeps them.
        events: Option<EventTypeSet> = vec!["anticipation.paid"]
            => |it| it.each("A type of events to send.").items(1, 100);
            optional(|it, name, problems| it.filled_set(name, EventType::ALL, problems)),
    }
}

request! {
    /// How long both secrets sign.
    #[derive(Debug)]
    pub(crate) struct Rotation = "Rotation" {
        /// How long the old secret signs, too; 0 when absent.
        overlap_hours: Option<u16> = 24 => |it| it.at_least(0).at_most(MAX_OVERLAP_HOURS.into());
            optional(whole(0, MAX_OVERLAP_HOURS)),
    }
}

impl Rotation {
    pub(super) fn overlap(&self) -> TimeDelta {
        TimeDelta::hours(self.overlap_hours.unwrap_or_default().into())
    }
}
