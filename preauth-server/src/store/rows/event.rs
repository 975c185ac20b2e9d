//! The history of operations.

use preauth_core::operation::{Actor, ActorKind};
use preauth_core::port::{HistoryEntry, Recorded};
use preauth_core::value::{ApiKeyId, EventId, EventType, UserId, Version};

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
    })
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
