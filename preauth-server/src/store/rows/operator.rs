//! Operators.

use preauth_core::value::OperatorId;

use crate::access::KeyHash;
use crate::directory::Operator;

use super::columns::{Columns, Corrupt};
use super::raw::RawRow;

pub(in crate::store) fn operator(row: &impl RawRow) -> Result<Operator, Corrupt> {
    let columns = Columns::of("operators", row);
    Ok(Operator {
        id: OperatorId::new(columns.uuid("id")?),
        name: columns.parsed("name")?,
        role: columns.parsed("role")?,
        created_at: columns.timestamp("created_at")?,
        created_by: columns.parsed("created_by")?,
        valid_until: columns.optional_timestamp("valid_until")?,
        revoked_at: columns.optional_timestamp("revoked_at")?,
        last_used_at: columns.optional_timestamp("last_used_at")?,
    })
}

/// An operator's id and the hash of the token.
pub(in crate::store) fn operator_hash(row: &impl RawRow) -> Result<(OperatorId, KeyHash), Corrupt> {
    let columns = Columns::of("operators", row);
    let id = OperatorId::new(columns.uuid("id")?);
    Ok((id, KeyHash(columns.bytes("token_hash")?)))
}
