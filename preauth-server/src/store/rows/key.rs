//! API keys.

use preauth_core::value::{ApiKeyId, CompanyId, UserId};

use crate::access::KeyHash;
use crate::directory::ApiKey;

use super::columns::{Columns, Corrupt};
use super::raw::RawRow;

pub(in crate::store) fn api_key(row: &impl RawRow) -> Result<ApiKey, Corrupt> {
    let columns = Columns::of("api_keys", row);
    Ok(ApiKey {
        id: ApiKeyId::new(columns.uuid("id")?),
        company: CompanyId::new(columns.uuid("company_id")?),
        name: columns.parsed("name")?,
        responsible_user: UserId::new(columns.uuid("user_id")?),
        scopes: columns.set("scopes")?,
        prefix: columns.raw("prefix")?,
        created_at: columns.timestamp("created_at")?,
        expires_at: columns.timestamp("expires_at")?,
        revoked_at: columns.optional_timestamp("revoked_at")?,
        last_used_at: columns.optional_timestamp("last_used_at")?,
    })
}

/// A key's id and hash.
pub(in crate::store) fn key_hash(row: &impl RawRow) -> Result<(ApiKeyId, KeyHash), Corrupt> {
    let columns = Columns::of("api_keys", row);
    let id = ApiKeyId::new(columns.uuid("id")?);
    Ok((id, KeyHash(columns.bytes("hash")?)))
}
