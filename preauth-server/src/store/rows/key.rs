//! API keys.

use preauth_core::value::{ApiKeyId, CompanyId, UserId};

use crate::access::{KeyHash, KeyRecord, Window};
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

/// The columns of a key with its company and its user, beside `join_key_parties!` or `find_key_parties!`.
macro_rules! key_columns {
    () => {
        "k.id, k.scopes, k.revoked_at, k.expires_at, k.company_id, k.user_id,
         c.kind, c.head_office_id, u.permissions,
         u.active AND o.head_office_id = c.head_office_id AS user_is_active,
         c.suspended_at IS NOT NULL OR h.suspended_at IS NOT NULL AS company_is_suspended"
    };
}
pub(in crate::store) use key_columns;

/// The company and the user of a key, with the head offices of both, on SQLite.
macro_rules! join_key_parties {
    () => {
        " JOIN companies c ON c.id = k.company_id
         JOIN companies h ON h.id = c.head_office_id
         JOIN users u ON u.id = k.user_id
         JOIN companies o ON o.id = u.company_id "
    };
}
pub(in crate::store) use join_key_parties;

/// The same for PostgreSQL, which has one plan for it: by their ids, in this order. Of few rows it might join all companies.
macro_rules! find_key_parties {
    () => {
        " CROSS JOIN LATERAL (SELECT c.kind, c.head_office_id, c.suspended_at
             FROM companies c WHERE c.id = k.company_id LIMIT 1) AS c
         CROSS JOIN LATERAL (SELECT h.suspended_at
             FROM companies h WHERE h.id = c.head_office_id LIMIT 1) AS h
         CROSS JOIN LATERAL (SELECT u.permissions, u.active, u.company_id
             FROM users u WHERE u.id = k.user_id LIMIT 1) AS u
         CROSS JOIN LATERAL (SELECT o.head_office_id
             FROM companies o WHERE o.id = u.company_id LIMIT 1) AS o "
    };
}
pub(in crate::store) use find_key_parties;

/// Reads a row of `key_columns!`.
pub(in crate::store) fn key_record(
    row: &impl RawRow,
    window: Option<Window>,
) -> Result<KeyRecord, Corrupt> {
    let columns = Columns::of("api_keys", row);
    Ok(KeyRecord {
        key: ApiKeyId::new(columns.uuid("id")?),
        scopes: columns.set("scopes")?,
        revoked_at: columns.optional_timestamp("revoked_at")?,
        expires_at: columns.timestamp("expires_at")?,
        company: CompanyId::new(columns.uuid("company_id")?),
        company_kind: columns.parsed("kind")?,
        head_office: CompanyId::new(columns.uuid("head_office_id")?),
        company_is_suspended: columns.raw("company_is_suspended")?,
        user: UserId::new(columns.uuid("user_id")?),
        user_is_active: columns.raw("user_is_active")?,
        permissions: columns.set("permissions")?,
        window,
    })
}
