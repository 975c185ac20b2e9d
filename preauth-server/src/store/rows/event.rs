//! The history of operations.

use preauth_core::operation::{Actor, ActorKind};
use preauth_core::port::{ActingOperator, HistoryEntry, Recorded};
use preauth_core::value::{ApiKeyId, EventId, EventType, OperatorId, RequestId, UserId, Version};
use uuid::Uuid;

use super::columns::{Columns, Corrupt};
use super::raw::RawRow;

pub(in crate::store) fn history_entry(row: &impl RawRow) -> Result<HistoryEntry, Corrupt> {
    let columns = Columns::of("events", row);
    let event_type: &str = columns.raw("type")?;
    Ok(HistoryEntry {
        id: EventId::new(columns.uuid("id")?),
        version: columns.number("version", Version::new)?,
        event_type: EventType::parse(event_type).map_or_else(|_| unknown(event_type), Into::into),
        at: columns.timestamp("at")?,
        actor: actor(columns)?,
        body: columns.raw("body")?,
        operator: operator(row)?,
    })
}

fn operator(row: &impl RawRow) -> Result<Option<ActingOperator>, Corrupt> {
    let columns = Columns::of("event_operators", row);
    let Some(name) = columns.optional_parsed("operator_name")? else {
        return Ok(None);
    };
    let id: Option<Uuid> = columns.raw("operator_id")?;
    Ok(Some(ActingOperator {
        id: id.map(OperatorId::new),
        name,
        request: RequestId::new(columns.uuid("request_id")?),
        address: columns.parsed("address")?,
    }))
}

fn actor(columns: Columns<'_>) -> Result<Recorded<Actor>, Corrupt> {
    let text: &str = columns.raw("actor")?;
    let Ok(kind) = ActorKind::parse(text) else {
        return Ok(unknown(text));
    };
    let actor = match kind {
        ActorKind::ApiKey => Actor::ApiKey {
            key: ApiKeyId::new(columns.uuid("actor_api_key_id")?),
            user: UserId::new(columns.uuid("actor_user_id")?),
        },
        ActorKind::Company => Actor::Company,
        ActorKind::Supplier => Actor::Supplier,
        ActorKind::Platform => Actor::Platform,
        ActorKind::System => Actor::System,
    };
    Ok(actor.into())
}

fn unknown<T>(text: &str) -> Recorded<T> {
    Recorded::Unknown(text.to_owned())
}
