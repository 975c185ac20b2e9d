//! The history of operations.

use preauth_core::operation::{Actor, ActorKind};
use preauth_core::port::HistoryEntry;
use preauth_core::value::{ApiKeyId, EventId, UserId, Version};

use super::columns::{Columns, Corrupt};
use super::raw::RawRow;

pub(in crate::store) fn history_entry(row: &impl RawRow) -> Result<HistoryEntry, Corrupt> {
    let columns = Columns::of("events", row);
    Ok(HistoryEntry {
        id: EventId::new(columns.uuid("id")?),
        version: columns.number("version", Version::new)?,
        event_type: columns.parsed("type")?,
        at: columns.timestamp("at")?,
        actor: actor(columns)?,
        body: columns.raw("body")?,
    })
}

fn actor(columns: Columns<'_>) -> Result<Actor, Corrupt> {
    let kind = ActorKind::parse(columns.raw("actor")?).map_err(|_| columns.corrupt("actor"))?;
    Ok(match kind {
        ActorKind::ApiKey => Actor::ApiKey {
            key: ApiKeyId::new(columns.uuid("actor_api_key_id")?),
            user: UserId::new(columns.uuid("actor_user_id")?),
        },
        ActorKind::Company => Actor::Company,
        ActorKind::Supplier => Actor::Supplier,
        ActorKind::Platform => Actor::Platform,
        ActorKind::System => Actor::System,
    })
}
