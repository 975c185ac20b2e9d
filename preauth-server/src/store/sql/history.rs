//! Events: whether one is recorded, and the parts of an operation's history that commands depend on.

use preauth_core::access::OperatorIdentity;
use preauth_core::operation::Operation;
use preauth_core::value::{DueDate, EventId, EventType, OperationId, OperatorId};
use uuid::Uuid;

use crate::store::error::Fault;
use crate::store::rows::Columns;

use super::{Session, query};

/// Whether the event is recorded.
pub(in crate::store) async fn has_event(
    session: &mut dyn Session,
    id: EventId,
) -> Result<bool, Fault> {
    let found = query("SELECT 1 FROM events WHERE id = $1")
        .bind(id.as_uuid())
        .fetch_optional(session)
        .await?;
    Ok(found.is_some())
}

/// The latest event that is neither a reproval nor a reopening; `None` when its type is unknown to
/// this build.
pub(in crate::store) async fn reached(
    session: &mut dyn Session,
    operation: &Operation,
) -> Result<Option<EventType>, Fault> {
    let row = query(
        "SELECT type FROM events WHERE head_office_id = $1 AND operation_id = $2
             AND type NOT IN ('anticipation.reproved', 'anticipation.reopened')
         ORDER BY version DESC LIMIT 1",
    )
    .bind(operation.payer.head_office.as_uuid())
    .bind(operation.id.get())
    .fetch_optional(session)
    .await?;
    let text = |row| Columns::of("events", row).raw::<String>("type");
    let found = row.as_ref().map(text).transpose()?;
    Ok(found.and_then(|text| EventType::parse(&text).ok()))
}

/// The latest due date of the concluded extensions, which is that of the last one: each lies after the
/// one before. Their ids may have another order, because an id is reserved before the decision.
pub(in crate::store) async fn extended_to(
    session: &mut dyn Session,
    id: OperationId,
) -> Result<Option<DueDate>, Fault> {
    let row = query(
        "SELECT new_due_date FROM extensions WHERE operation_id = $1 AND status = 'CONCLUDED'
         ORDER BY new_due_date DESC LIMIT 1",
    )
    .bind(id.get())
    .fetch_optional(session)
    .await?;
    let due_date = |row| Columns::of("extensions", row).parsed::<DueDate>("new_due_date");
    Ok(row.as_ref().map(due_date).transpose()?)
}

/// The operator who released the operation last; `None` when nobody is recorded.
pub(in crate::store) async fn released_by(
    session: &mut dyn Session,
    operation: &Operation,
) -> Result<Option<OperatorIdentity>, Fault> {
    let row = query(
        "SELECT o.name, o.operator_id FROM events e
         LEFT JOIN event_operators o ON o.event_id = e.id
         WHERE e.head_office_id = $1 AND e.operation_id = $2
             AND e.type = 'anticipation.analysis_approved'
         ORDER BY e.version DESC LIMIT 1",
    )
    .bind(operation.payer.head_office.as_uuid())
    .bind(operation.id.get())
    .fetch_optional(session)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let columns = Columns::of("event_operators", &row);
    // The holder of the configured token has a name and no id.
    if columns.raw::<Option<String>>("name")?.is_none() {
        return Ok(None);
    }
    let id: Option<Uuid> = columns.raw("operator_id")?;
    Ok(Some(OperatorIdentity::new(id.map(OperatorId::new))))
}
