//! Stored replies to idempotency keys of the platform API.

use preauth_core::port::PlatformReply;
use preauth_core::value::Fingerprint;

use super::columns::{Columns, Corrupt};
use super::raw::RawRow;

/// Reads the reply of a key.
pub(in crate::store) fn platform_reply(row: &impl RawRow) -> Result<PlatformReply, Corrupt> {
    let columns = Columns::of("platform_replies", row);
    Ok(PlatformReply {
        fingerprint: Fingerprint::from_bytes(columns.bytes("fingerprint")?),
        body: columns.raw("body")?,
        expires_at: columns.timestamp("expires_at")?,
    })
}
