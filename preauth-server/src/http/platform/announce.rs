//! Events that report no change of an aggregate: an invoice was received, an endpoint is tested.

use preauth_core::port::{NewReply, Subscription, Write};
use preauth_core::value::{DeliveryId, EventType, Timestamp};
use serde::Serialize;

use crate::http::convert;
use crate::http::error::ApiError;

use super::PlatformApi;

/// Commits `write` with an event that carries `data`, addressed to the endpoint of its head office,
/// and with the reply to remember, if there is one.
/// The deliveries made: one, or none when nobody hears of it.
pub(super) async fn announce<D: Serialize + Send>(
    api: &PlatformApi,
    write: Write,
    event_type: EventType,
    data: D,
    reply: Option<NewReply>,
    now: Timestamp,
) -> Result<Vec<DeliveryId>, ApiError> {
    let endpoint = api.directory.endpoint(write.head_office()).await?;
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
