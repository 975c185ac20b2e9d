//! Events that report no change of an aggregate: an invoice was received, an endpoint is tested.
//!
//! They go the way of all others: one commit holds the event with its frozen body and the delivery
//! to whoever hears of it.

use preauth_core::delivery::recipients;
use preauth_core::operation::Actor;
use preauth_core::port::{
    Commit, CommitError, EventRecord, NewDelivery, Subscription, Unavailable, Write,
};
use preauth_core::value::{DeliveryId, EventId, EventType, Timestamp};
use serde::Serialize;

use crate::http::convert;
use crate::http::error::ApiError;

use super::PlatformApi;

/// Why an announcement was not made.
pub(super) enum Unannounced {
    /// Nothing was written.
    NotDone(ApiError),
    /// All of it or nothing was written.
    Unknown(ApiError),
}

/// Commits `write` with an event that carries `data`, addressed to the endpoint of its head office.
/// The deliveries made: one, or none when nobody hears of it.
pub(super) async fn announce<D: Serialize>(
    api: &PlatformApi,
    write: Write,
    event_type: EventType,
    data: D,
    now: Timestamp,
) -> Result<Vec<DeliveryId>, Unannounced> {
    let head_office = write.head_office();
    let endpoint = api.directory.endpoint(head_office).await?;
    let subscription = endpoint.map(|endpoint| Subscription {
        endpoint: endpoint.id,
        head_office: endpoint.company,
        events: endpoint.events,
    });
    let deliveries: Vec<_> = recipients(event_type, head_office, subscription.as_slice())
        .into_iter()
        .map(|subscription| NewDelivery {
            id: DeliveryId::new(api.ids.uuid(now)),
            endpoint: subscription.endpoint,
        })
        .collect();
    let made = deliveries.iter().map(|delivery| delivery.id).collect();
    let id = EventId::new(api.ids.uuid(now));
    let commit = Commit {
        write,
        event: EventRecord {
            id,
            event_type,
            at: now,
            actor: Actor::Platform,
            body: convert::event(id, event_type, now, data),
        },
        deliveries,
        supplier: None,
        notice: None,
        reply: None,
        file: None,
    };
    api.store.commit(commit).await?;
    Ok(made)
}

impl From<Unavailable> for Unannounced {
    fn from(unavailable: Unavailable) -> Self {
        Self::NotDone(unavailable.into())
    }
}

impl From<CommitError> for Unannounced {
    fn from(error: CommitError) -> Self {
        match error {
            // Every id in it is fresh, so that only chance could be in the way.
            CommitError::Conflict => Self::NotDone(ApiError::unavailable(error)),
            CommitError::NotDone(cause) | CommitError::Busy(cause) => {
                Self::NotDone(ApiError::unavailable(cause))
            }
            CommitError::Unknown(cause) => Self::Unknown(ApiError::internal(cause)),
        }
    }
}

impl From<Unannounced> for ApiError {
    fn from(unannounced: Unannounced) -> Self {
        match unannounced {
            Unannounced::NotDone(error) | Unannounced::Unknown(error) => error,
        }
    }
}
