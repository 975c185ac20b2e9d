//! Look-ups of API keys that count nothing.

use preauth_core::value::ApiKeyId;

use crate::access::{KeyHash, KeyRecord};
use crate::store::error::Fault;
use crate::store::rows::{find_key_parties, join_key_parties, key_columns, key_hash, key_record};

use super::{Dialect, Session, query};

macro_rules! find_key {
    ($parties:ident) => {
        concat!(
            "SELECT ",
            key_columns!(),
            " FROM api_keys k",
            $parties!(),
            "WHERE k.hash = $1"
        )
    };
}

/// The key with its company and its user, without its window.
pub(in crate::store) async fn find(
    session: &mut dyn Session,
    key: &KeyHash,
) -> Result<Option<KeyRecord>, Fault> {
    let row = query(match session.dialect() {
        Dialect::Sqlite => find_key!(join_key_parties),
        Dialect::Postgres => find_key!(find_key_parties),
    })
    .bind(key.0.as_slice())
    .fetch_optional(session)
    .await?;
    let record = row.as_ref().map(|row| key_record(row, None));
    Ok(record.transpose()?)
}

/// The ids and hashes of the keys after one, in the order of their ids.
pub(in crate::store) async fn key_hashes(
    session: &mut dyn Session,
    after: ApiKeyId,
    limit: u32,
) -> Result<Vec<(ApiKeyId, KeyHash)>, Fault> {
    let rows = query("SELECT id, hash FROM api_keys WHERE id > $1 ORDER BY id LIMIT $2")
        .bind(after.as_uuid())
        .bind(limit)
        .fetch_all(session)
        .await?;
    Ok(rows.iter().map(key_hash).collect::<Result<_, _>>()?)
}
