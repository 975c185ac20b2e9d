//! For how long a link shows its operation.

use chrono::TimeDelta;
use preauth_core::operation::{Operation, State};
use preauth_core::value::{Timestamp, Version};

use crate::http::error::ApiError;

use super::PortalApi;

/// Time for which an operation is shown after its offer ceased to be open.
const SHOWN_AFTERWARDS: TimeDelta = TimeDelta::days(30);

/// Whether the operation is shown: while its offer is open, and for a time afterwards.
pub(super) async fn is_shown(
    api: &PortalApi,
    operation: &Operation,
    now: Timestamp,
) -> Result<bool, ApiError> {
    let ended_at = match operation.state {
        State::InPreAuth => operation.expires_at,
        _ => Some(ended_at(api, operation).await?),
    };
    Ok(ended_at.is_none_or(|at| now <= at.saturating_add(SHOWN_AFTERWARDS)))
}

/// When the offer ceased to be open: with the second of its events, because no event leads back to it.
async fn ended_at(api: &PortalApi, operation: &Operation) -> Result<Timestamp, ApiError> {
    let history = api.queries.history(operation.id).await?;
    let mut later = history
        .iter()
        .filter(|entry| entry.version > Version::INITIAL);
    let ended_at = later.next().map(|entry| entry.at).or(operation.expires_at);
    Ok(ended_at.unwrap_or(operation.created_at))
}
