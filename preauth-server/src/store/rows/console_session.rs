//! Sessions of the operators' console.

use preauth_core::value::OperatorId;
use uuid::Uuid;

use crate::access::KeyHash;
use crate::directory::{ConsoleSession, SessionHolder};

use super::columns::{Columns, Corrupt};
use super::raw::RawRow;

pub(in crate::store) fn console_session(row: &impl RawRow) -> Result<ConsoleSession, Corrupt> {
    let columns = Columns::of("console_sessions", row);
    let operator: Option<Uuid> = columns.raw("operator_id")?;
    Ok(ConsoleSession {
        secret: KeyHash(columns.bytes("secret_hash")?),
        holder: match operator {
            Some(id) => SessionHolder::Named(OperatorId::new(id)),
            None => SessionHolder::Root {
                proof: columns.bytes("root_proof")?,
            },
        },
        created_at: columns.timestamp("created_at")?,
        expires_at: columns.timestamp("expires_at")?,
    })
}
