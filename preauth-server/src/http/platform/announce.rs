//! Events that report no change of an aggregate: an invoice was received, an endpoint is tested.

use preauth_core::port::{Subscription, Write};
use preauth_core::service::{Announced, ReplyOf};
use preauth_core::value::{EventType, Timestamp};
use serde::Serialize;

use crate::directory::Endpoint;
use crate::http::convert;
use crate::http::error::ApiError;

use super::PlatformApi;

/// Commits `write` with an event that carries `data`, addressed to the endpoint of its head office,
/// and with the reply to store, if there is one. Creates one delivery, or none if no endpoint
/// subscribes to the event.
pub(super) async fn announce<D: Serialize + Send>(
    api: &PlatformApi,
    write: Write,
    event_type: EventType,
    data: D,
    reply: Option<&ReplyOf<'_, Announced>>,
    now: Timestamp,
) -> Result<Announced, ApiError> {
    let endpoint = api.directory.endpoint(write.head_office()).await?;
    announce_to(
        api,
        write,
        endpoint.as_ref(),
        (event_type, data),
        reply,
        now,
    )
    .await
}

/// The same for a given `endpoint`.
pub(super) async fn announce_to<D: Serialize + Send>(
    api: &PlatformApi,
    write: Write,
    endpoint: Option<&Endpoint>,
    (event_type, data): (EventType, D),
    reply: Option<&ReplyOf<'_, Announced>>,
    now: Timestamp,
) -> Result<Announced, ApiError> {
    let subscription = endpoint.map(|endpoint| Subscription {
        endpoint: endpoint.id,
        head_office: endpoint.company,
        events: endpoint.events,
    });
    let body = |id| convert::event(id, event_type, now, data);
    let subscriptions = subscription.as_slice();
    let announced = api
        .operations
        .announce(write, event_type, body, subscriptions, reply, now);
    Ok(announced.await?)
}
