//! Keys and their rate windows: of all requests that come at the same time, by one statement.

use std::collections::HashMap;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{ApiKeyId, CompanyId, Timestamp, UserId};
use sqlx::PgConnection;
use sqlx::postgres::PgRow;

use crate::access::{Access, Entry, KeyHash, RateLimit, Window};

use super::PostgresStore;
use super::connections::Connections;
use super::error::{Fault, unavailable_to_all};
use super::grouping::Serve;
use super::held::{HeldRows, Turns};
use super::rows::{Columns, place};
use super::session;

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
        let mut turns = Turns::begin();
        loop {
            // A request that is counted twice, because its connection broke, harms nobody.
            match self.visits.ask(visit).await.map_err(Fault::from)?? {
                Visited::Entered(entry) => return Ok(entry.map(|entry| *entry)),
                Visited::Held if turns.next().await => {}
                Visited::Held => return Err(Fault::StillLocked.into()),
            }
        }
    }
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

/// Counts in new windows where the old are over. A key that is revoked or expired is found and not
/// counted.
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
                        AS company_is_suspended
             FROM unnest($1::BYTEA[], $2::BIGINT[], $3::BIGINT[])
                 WITH ORDINALITY AS p (hash, at, visits, n)
             JOIN api_keys k ON k.hash = p.hash
             JOIN companies c ON c.id = k.company_id
             JOIN companies h ON h.id = c.head_office_id
             JOIN users u ON u.id = k.user_id
             JOIN companies o ON o.id = u.company_id
         ),
         free AS MATERIALIZED (
             SELECT f.n
             FROM found f CROSS JOIN LATERAL (
                 SELECT w.api_key_id FROM rate_windows w WHERE w.api_key_id = f.id
                 FOR NO KEY UPDATE SKIP LOCKED) AS w
             WHERE $6
         ),
         held AS MATERIALIZED (
             SELECT f.n FROM found f
             WHERE $6 AND f.n NOT IN (SELECT n FROM free)
               AND EXISTS (SELECT 1 FROM rate_windows w WHERE w.api_key_id = f.id)
         ),
         counted AS (
             INSERT INTO rate_windows AS w (api_key_id, started_at, count, last_used_at)
             SELECT id, at, visits, at FROM found
             WHERE revoked_at IS NULL AND expires_at > at AND n NOT IN (SELECT n FROM held)
             -- In one order in all instances, so that none waits for another in a circle.
             ORDER BY id
             ON CONFLICT (api_key_id) DO UPDATE
             SET started_at = CASE WHEN abs(excluded.started_at - w.started_at) < $4
                                   THEN w.started_at ELSE excluded.started_at END,
                 count = CASE WHEN abs(excluded.started_at - w.started_at) < $4
                              THEN least(w.count, $5) + excluded.count ELSE excluded.count END,
                 last_used_at = greatest(w.last_used_at, excluded.last_used_at)
             RETURNING api_key_id, count, started_at
         )
         SELECT found.*, counted.count, counted.started_at,
                found.n IN (SELECT n FROM held) AS is_held
         FROM found LEFT JOIN counted ON counted.api_key_id = found.id",
    )
    .bind(hashes)
    .bind(moments)
    .bind(counts)
    .bind(i64::from(limit.window_seconds).saturating_mul(1000))
    .bind(i64::from(limit.requests))
    .bind(leave_out)
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
    let columns = Columns::of("rate_windows", row);
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
