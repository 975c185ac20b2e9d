//! Operations as rows: reading one.

use preauth_core::operation::Operation;
use preauth_core::value::OperationId;

use crate::store::error::Fault;
use crate::store::rows::{operation, select_operations};

use super::{Session, query};

/// The operation with an id, if there is one.
pub(in crate::store) async fn by_id(
    session: &mut dyn Session,
    id: OperationId,
) -> Result<Option<Operation>, Fault> {
    let row = query(select_operations!("WHERE o.id = $1"))
        .bind(id.get())
        .fetch_optional(session)
        .await?;
    Ok(row.as_ref().map(operation).transpose()?)
}
