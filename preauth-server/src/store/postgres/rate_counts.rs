//! Counts of rate windows, in rows that are rewritten only a few times.
//!
//! A row that has taken [`MAX_WRITES`] counts is final. A reader may then continue from its value
//! in a row of the next generation; of several concurrent ones the first creates that row, and the
//! others add to it.

use preauth_core::value::Timestamp;
use sqlx::PgConnection;
use sqlx::postgres::PgRow;

use crate::access::{KeyHash, RateLimit};

use crate::store::rows::{find_key_parties, key_columns};

use super::statement::query_of;

/// Maximum number of counts that one row takes, and so of its versions that are read while a
/// snapshot is held open. The schema and its trigger for earlier builds have the same number.
const MAX_WRITES: i32 = 32;

/// Finds keys with all related rows, and counts.
///
/// Requests may arrive in another order than they were made, so an earlier time counts in the
/// current window; a difference of a whole window means that a clock was set back.
///
/// A crash may lose counts, so the transaction is told not to wait for the disk, nor for a standby.
macro_rules! count {
    ($source:literal) => {
        concat!(
            "WITH found AS MATERIALIZED (
     SELECT p.n, p.at, p.visits, ",
            key_columns!(),
            ",
            w.generation, w.started_at, w.total, w.is_full,
            coalesce(abs(p.at - w.started_at) < $4, FALSE) AS is_running
     FROM ",
            $source,
            " AS p (hash, at, visits, n)
     CROSS JOIN LATERAL (
         SELECT k.id, k.scopes, k.revoked_at, k.expires_at, k.company_id, k.user_id
         FROM api_keys k WHERE k.hash = p.hash LIMIT 1) AS k",
            find_key_parties!(),
            "LEFT JOIN LATERAL (
         SELECT r.generation, r.started_at, r.carried + r.counted AS total,
                r.writes >= $7 AS is_full
         FROM rate_counts r WHERE r.api_key_id = k.id
         ORDER BY r.generation DESC LIMIT 1) AS w ON TRUE
 ),
 counting AS MATERIALIZED (
     SELECT f.*, CASE WHEN f.generation IS NULL THEN 0
                      WHEN f.is_full THEN f.generation + 1
                      ELSE f.generation END AS next_generation
     FROM found f
     WHERE f.revoked_at IS NULL AND f.expires_at > f.at
       AND NOT (f.is_running AND f.total > $5)
 ),
 free AS MATERIALIZED (
     SELECT c.n
     FROM counting c CROSS JOIN LATERAL (
         SELECT r.api_key_id FROM rate_counts r
         WHERE r.api_key_id = c.id AND r.generation = c.generation
         FOR NO KEY UPDATE SKIP LOCKED) AS w
     WHERE $6
 ),
 held AS MATERIALIZED (
     SELECT n FROM counting
     WHERE $6 AND generation IS NOT NULL AND n NOT IN (SELECT n FROM free)
 ),
 counted AS (
     INSERT INTO rate_counts AS w (api_key_id, generation, begun_at, started_at, window_ms,
         carried, counted, writes, last_used_at)
     SELECT id, next_generation, at,
            CASE WHEN is_running AND is_full THEN started_at ELSE at END, $4,
            CASE WHEN is_running AND is_full THEN total ELSE 0 END,
            visits, 1, at
     FROM counting
     WHERE n NOT IN (SELECT n FROM held)
     -- In one order in all instances, so that none waits for another in a circle.
     ORDER BY id
     ON CONFLICT (api_key_id, generation) DO UPDATE
     SET started_at = CASE WHEN abs(excluded.last_used_at - w.started_at) < $4
                           THEN w.started_at ELSE excluded.last_used_at END,
         carried = CASE WHEN abs(excluded.last_used_at - w.started_at) < $4
                        THEN w.carried ELSE 0 END,
         counted = CASE WHEN abs(excluded.last_used_at - w.started_at) < $4
                        THEN w.counted + excluded.counted ELSE excluded.counted END,
         window_ms = $4,
         writes = w.writes + 1,
         last_used_at = greatest(w.last_used_at, excluded.last_used_at)
     -- Others may have filled it meanwhile: then it is final.
     WHERE w.writes < $7
     RETURNING api_key_id, carried + counted AS total, started_at
 )
 SELECT f.id, f.scopes, f.revoked_at, f.expires_at, f.company_id, f.user_id, f.kind,
        f.head_office_id, f.permissions, f.user_is_active, f.company_is_suspended, f.n,
        CASE WHEN c.n IS NOT NULL THEN w.total
             WHEN f.revoked_at IS NULL AND f.expires_at > f.at THEN f.total + f.visits
        END AS count,
        CASE WHEN c.n IS NOT NULL THEN w.started_at ELSE f.started_at END AS started_at,
        f.n IN (SELECT n FROM held) AS is_held,
        c.n IS NOT NULL AND w.api_key_id IS NULL AS is_outrun,
        (SELECT set_config('synchronous_commit', 'off', TRUE))
 FROM found f
 LEFT JOIN counting c ON c.n = f.n
 LEFT JOIN counted w ON w.api_key_id = f.id"
        )
    };
}

const COUNT: &str = count!("unnest($1::BYTEA[], $2::BIGINT[], $3::BIGINT[]) WITH ORDINALITY");

const COUNT_ONE: &str = count!("(SELECT $1::BYTEA, $2::BIGINT, $3::BIGINT, 1::BIGINT)");

/// The lookups of one key, which are counted together.
#[derive(Debug)]
pub(super) struct Party {
    pub(super) hash: KeyHash,
    /// The time of the earliest of them.
    pub(super) now: Timestamp,
    /// The positions of the lookups.
    pub(super) lookups: Vec<usize>,
}

impl Party {
    fn count(&self) -> i64 {
        i64::try_from(self.lookups.len()).unwrap_or(i64::MAX)
    }
}

/// Looks up the keys of `parties` and counts, in new windows where the old ones are over. A key
/// that is revoked or expired, or whose window is used up, is found and not counted.
pub(super) async fn count(
    connection: &mut PgConnection,
    limit: RateLimit,
    parties: &[Party],
    leave_out: bool,
) -> Result<Vec<PgRow>, sqlx::Error> {
    let hashes: Vec<&[u8]> = parties.iter().map(|it| it.hash.0.as_slice()).collect();
    let moments: Vec<i64> = parties.iter().map(|it| it.now.unix_millis()).collect();
    let counts: Vec<i64> = parties.iter().map(Party::count).collect();
    let query = query_of!(COUNT_ONE, COUNT; hashes, moments, counts);
    query
        .bind(i64::from(limit.window_seconds).saturating_mul(1000))
        .bind(i64::from(limit.requests))
        .bind(leave_out)
        .bind(MAX_WRITES)
        .fetch_all(connection)
        .await
}

/// Looks up `callers` keys that do not exist, so nothing is counted.
pub(super) async fn warm_up(
    connection: &mut PgConnection,
    callers: usize,
) -> Result<(), sqlx::Error> {
    let parties = (0..callers).map(|place| Party {
        hash: KeyHash([0; 32]),
        now: Timestamp::MIN,
        lookups: vec![place],
    });
    let limit = RateLimit {
        requests: 1,
        window_seconds: 1,
    };
    let parties: Vec<Party> = parties.collect();
    count(connection, limit, &parties, false).await.map(drop)
}
