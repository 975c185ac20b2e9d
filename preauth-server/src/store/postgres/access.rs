//! Keys and their rate windows: of all requests that come at the same time, by one statement.

use std::collections::HashMap;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{ApiKeyId, CompanyId, Timestamp, UserId};
use sqlx::PgConnection;
use sqlx::postgres::PgRow;

use crate::access::{Access, Entry, KeyHash, RateLimit, Window};
use crate::store::exhausted::Known;

use super::PostgresStore;
use super::connections::Connections;
use super::error::{Fault, unavailable_to_all};
use super::grouping::Serve;
use super::held::{HeldRows, Turns};
use super::rows::{Columns, place};
use super::session;

/// Counts that one row takes. Behind a snapshot that is held open so many versions of it are gone over
/// at most. The schema and its trigger for earlier builds have the same number.
const MAX_WRITES: i32 = 32;

#[async_trait]
impl Access for PostgresStore {
    async fn enter(
        &self,
        key: &KeyHash,
        limit: RateLimit,
        now: Timestamp,
    ) -> Result<Option<Entry>, Unavailable> {
        let visit = Visit {
            hash: *key,
            limit,
            now,
        };
        match self.exhausted.find(key, limit, now) {
            Known::UsedUp(entry) => return Ok(Some(entry)),
            Known::Recheck(entry) if self.is_live(entry.key, now).await => return Ok(Some(entry)),
            Known::Recheck(entry) => self.exhausted.forget(entry.key),
            Known::Nothing => {}
        }
        let mut turns = Turns::begin();
        loop {
            // A request that is counted twice, because its connection broke, harms nobody.
            match self.visits.ask(visit).await.map_err(Fault::from)?? {
                Visited::Entered(None) => return Ok(None),
                Visited::Entered(Some(entry)) => {
                    self.exhausted.note(*key, limit, &entry);
                    return Ok(Some(*entry));
                }
                Visited::Outrun if !turns.are_over() => {}
                Visited::Held if turns.next().await => {}
                Visited::Held | Visited::Outrun => return Err(Fault::StillLocked.into()),
            }
        }
    }
}

impl PostgresStore {
    /// Whether a key whose window is used up is still worth anything. When the database does not
    /// answer, what was known stands.
    async fn is_live(&self, key: ApiKeyId, now: Timestamp) -> bool {
        let input = (key, now);
        let live = self.read(&input, |connection, (key, now)| {
            Box::pin(is_live(connection, *key, *now))
        });
        live.await.unwrap_or(true)
    }
}

async fn is_live(
    connection: &mut PgConnection,
    key: ApiKeyId,
    now: Timestamp,
) -> Result<bool, Fault> {
    let live = sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM api_keys
                        WHERE id = $1 AND revoked_at IS NULL AND expires_at > $2)",
    )
    .bind(key.as_uuid())
    .bind(now.unix_millis());
    Ok(live.fetch_one(connection).await?)
}

/// The look-ups of keys, many at once.
#[derive(Debug)]
pub(super) struct Visits {
    connections: Connections,
    held: HeldRows,
}

/// What a visit came to.
#[derive(Debug)]
pub(super) enum Visited {
    /// The key with its window, if it is known.
    Entered(Option<Box<Entry>>),
    /// Others hold the key's window locked; the request was not counted.
    Held,
    /// Others filled the row that it was to be counted in; it was not counted.
    Outrun,
}

/// Visits, and whether held windows are left out.
type Group = (Vec<Visit>, bool);

impl Visits {
    pub(super) fn new(connections: Connections) -> Self {
        Self {
            connections,
            held: HeldRows::default(),
        }
    }

    async fn enter(&self, group: &Group) -> Result<Vec<Result<Visited, Fault>>, Fault> {
        session::read(
            &self.connections,
            group,
            |connection, (visits, leave_out)| Box::pin(enter_all(connection, visits, *leave_out)),
        )
        .await
    }
}

#[async_trait]
impl Serve for Visits {
    type Request = Visit;
    type Answer = Result<Visited, Unavailable>;

    async fn serve(&self, visits: Vec<Visit>) -> Vec<Self::Answer> {
        let callers = visits.len();
        let mut group = (visits, self.held.are_left_out());
        let mut entered = self.enter(&group).await;
        if !group.1 && entered.as_ref().is_err_and(Fault::is_locked) {
            self.held.note();
            group.1 = true;
            entered = self.enter(&group).await;
        }
        match entered {
            Ok(answers) => {
                if answers.iter().any(|it| matches!(it, Ok(Visited::Held))) {
                    self.held.note();
                }
                let answer = |answer: Result<_, Fault>| answer.map_err(Unavailable::from);
                answers.into_iter().map(answer).collect()
            }
            Err(fault) if fault.is_locked() => (0..callers).map(|_| Ok(Visited::Held)).collect(),
            Err(fault) => unavailable_to_all(callers, fault),
        }
    }
}

/// One request to be counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    hash: KeyHash,
    limit: RateLimit,
    now: Timestamp,
}

/// The visits of one key, which are counted together.
#[derive(Debug)]
struct Party {
    hash: KeyHash,
    /// Of the earliest of them.
    now: Timestamp,
    /// The places of the visits.
    visits: Vec<usize>,
}

/// Looks the keys of all visits up and counts the visits in their keys' windows; in one round trip,
/// because all of a process have the same limit.
///
/// A window that others hold locked is waited for, unless such ones shall be left out.
async fn enter_all(
    connection: &mut PgConnection,
    visits: &[Visit],
    leave_out: bool,
) -> Result<Vec<Result<Visited, Fault>>, Fault> {
    let mut by_limit: HashMap<RateLimit, Vec<(usize, Visit)>> = HashMap::new();
    for (place, visit) in visits.iter().enumerate() {
        by_limit
            .entry(visit.limit)
            .or_default()
            .push((place, *visit));
    }
    let mut answers: Vec<_> = visits.iter().map(|_| Ok(Visited::Entered(None))).collect();
    for (limit, visits) in by_limit {
        enter(connection, limit, parties(visits), leave_out, &mut answers).await?;
    }
    Ok(answers)
}

/// Counts in new windows where the old are over. A key that is revoked or expired, or whose window is
/// used up, is found and not counted.
///
/// A row that has taken [`MAX_WRITES`] counts is final. So whoever reads it may go on from what it came
/// to, in a row of the next generation; of several who do so at once the first makes that row, and the
/// others add to it.
///
/// Requests may arrive here in another order than they were made, so an earlier moment counts in
/// the window that stands; one earlier by a whole window means that a clock was set back.
async fn enter(
    connection: &mut PgConnection,
    limit: RateLimit,
    mut parties: Vec<Party>,
    leave_out: bool,
    answers: &mut [Result<Visited, Fault>],
) -> Result<(), Fault> {
    let hashes: Vec<&[u8]> = parties.iter().map(|it| it.hash.0.as_slice()).collect();
    let moments: Vec<i64> = parties.iter().map(|it| it.now.unix_millis()).collect();
    let counts: Vec<i64> = parties.iter().map(Party::count).collect();
    let rows = sqlx::query(
        "WITH found AS MATERIALIZED (
             SELECT p.n, p.at, p.visits,
                    k.id, k.scopes, k.revoked_at, k.expires_at, k.company_id, k.user_id,
                    c.kind, c.head_office_id, u.permissions,
                    u.active AND o.head_office_id = c.head_office_id AS user_is_active,
                    c.suspended_at IS NOT NULL OR h.suspended_at IS NOT NULL
                        AS company_is_suspended,
                    w.generation, w.started_at, w.total, w.is_full,
                    coalesce(abs(p.at - w.started_at) < $4, FALSE) AS is_running
             FROM unnest($1::BYTEA[], $2::BIGINT[], $3::BIGINT[])
                 WITH ORDINALITY AS p (hash, at, visits, n)
             JOIN api_keys k ON k.hash = p.hash
             JOIN companies c ON c.id = k.company_id
             JOIN companies h ON h.id = c.head_office_id
             JOIN users u ON u.id = k.user_id
             JOIN companies o ON o.id = u.company_id
             LEFT JOIN LATERAL (
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
                c.n IS NOT NULL AND w.api_key_id IS NULL AS is_outrun
         FROM found f
         LEFT JOIN counting c ON c.n = f.n
         LEFT JOIN counted w ON w.api_key_id = f.id",
    )
    .bind(hashes)
    .bind(moments)
    .bind(counts)
    .bind(i64::from(limit.window_seconds).saturating_mul(1000))
    .bind(i64::from(limit.requests))
    .bind(leave_out)
    .bind(MAX_WRITES)
    .fetch_all(connection)
    .await?;
    for row in &rows {
        let columns = Columns::of("api_keys", row);
        let Some(party) = place(columns, "n", &mut parties)? else {
            continue;
        };
        for (behind, place) in (0..).zip(party.visits.iter().rev()) {
            if let Some(answer) = answers.get_mut(*place) {
                *answer = visited(row, limit, behind);
            }
        }
    }
    Ok(())
}

fn parties(visits: Vec<(usize, Visit)>) -> Vec<Party> {
    let mut parties: Vec<Party> = Vec::new();
    let mut known: HashMap<KeyHash, usize> = HashMap::new();
    for (place, visit) in visits {
        let of_key = *known.entry(visit.hash).or_insert(parties.len());
        match parties.get_mut(of_key) {
            Some(party) => {
                party.now = party.now.min(visit.now);
                party.visits.push(place);
            }
            None => parties.push(Party {
                hash: visit.hash,
                now: visit.now,
                visits: vec![place],
            }),
        }
    }
    parties
}

impl Party {
    fn count(&self) -> i64 {
        i64::try_from(self.visits.len()).unwrap_or(i64::MAX)
    }
}

fn visited(row: &PgRow, limit: RateLimit, behind: u32) -> Result<Visited, Fault> {
    if Columns::of("api_keys", row).raw("is_held")? {
        return Ok(Visited::Held);
    }
    if Columns::of("api_keys", row).raw("is_outrun")? {
        return Ok(Visited::Outrun);
    }
    let entry = entry(row, limit, behind)?;
    Ok(Visited::Entered(Some(Box::new(entry))))
}

/// What one visit finds, with `behind` others of its group after it.
fn entry(row: &PgRow, limit: RateLimit, behind: u32) -> Result<Entry, Fault> {
    let columns = Columns::of("api_keys", row);
    Ok(Entry {
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
        window: window(row, limit, behind)?,
    })
}

fn window(row: &PgRow, limit: RateLimit, behind: u32) -> Result<Option<Window>, Fault> {
    let columns = Columns::of("rate_counts", row);
    let Some(count) = columns.raw::<Option<u32>>("count")? else {
        return Ok(None);
    };
    Ok(Some(Window {
        count: count
            .saturating_sub(behind)
            .min(limit.requests.saturating_add(1)),
        started_at: columns.timestamp("started_at")?,
    }))
}
