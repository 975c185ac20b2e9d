//! Finds due mails with few polls of the front of the queue.
//!
//! While a database snapshot is held open, index entries outlive their rows. So one poll lists many
//! mails, which are then read by id; the next poll begins where this one found the first. Rows that
//! were committed late are found by polls that begin some seconds earlier, now and then, and by
//! complete polls; leases that ran out, by their end.
//!
//! In the list head offices take turns.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use preauth_core::value::Timestamp;
use sqlx::{PgConnection, Row as _};
use tokio::sync::{Mutex as Turns, MutexGuard as Turn};
use tokio::time::Instant;
use uuid::Uuid;

use super::super::front::{MARGIN_MS, Pace, RECENT_MS, Recent};
use crate::mail::MailClaim;
use crate::store::error::{Fault, WriteError};
use crate::store::sql::Row;
use crate::store::sql::mails::{self, DueList, Position};

/// Maximum number of mails that one poll lists.
const MAX_LISTED: usize = 64;
/// Maximum number of expired leases that one poll reads.
const MAX_EXPIRED: i64 = 64;
/// Maximum age of a list: late mails are in the next one.
const LISTED_FOR: Duration = Duration::from_secs(1);

/// The front of the queue of mails, and its first mails.
#[derive(Debug, Default)]
pub(in super::super) struct DueMails {
    turns: Turns<()>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Where the next poll begins; only mails that were committed late are due before it.
    from: Position,
    complete: Pace,
    recent: Recent,
    /// All leases that ended before this time, by the database's clock, were taken over.
    expired_from: i64,
    listed: DueList,
    listed_at: Option<Instant>,
    /// The service's time of the last poll, and when that was by this process's clock.
    now: Option<(i64, Instant)>,
}

/// A poll that has begun.
#[derive(Clone, Copy, Debug)]
struct Look {
    from: Position,
    is_complete: bool,
    began: Instant,
}

impl DueMails {
    /// Waits until no other claim of this instance is under way.
    pub(super) async fn turn(&self) -> Turn<'_, ()> {
        self.turns.lock().await
    }

    /// Makes the next poll complete: a mail before the front may be due.
    pub(in super::super) fn look_everywhere(&self) {
        self.with(|state| state.complete = Pace::default());
    }

    /// The time before which few mails are due.
    pub(in super::super) fn begins_at(&self) -> i64 {
        self.with(|state| state.from.due.saturating_sub(RECENT_MS))
    }

    /// Removes mails from the list that are no longer due.
    pub(super) fn forget(&self, mails: &[Uuid]) {
        self.with(|state| {
            state
                .listed
                .mails
                .retain(|listed| !mails.contains(&listed.id));
        });
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    /// The listed mails; none when the list is too old.
    fn listed(&mut self, at: Instant) -> Vec<Position> {
        let is_old = self
            .listed_at
            .is_none_or(|listed_at| at.duration_since(listed_at) >= LISTED_FOR);
        if is_old {
            self.listed.mails.clear();
        }
        self.listed.mails.clone()
    }

    /// Begins a poll. The margin is counted from now: mails that were due long ago were committed long
    /// ago.
    fn look(&mut self, began: Instant) -> Look {
        let is_complete = self.complete.begin(began);
        let now = self.now.map_or(0, |(now, at)| {
            let since = began.duration_since(at).as_millis();
            now.saturating_add(i64::try_from(since).unwrap_or(i64::MAX))
        });
        let margin = if self.recent.begin(began) {
            RECENT_MS
        } else {
            MARGIN_MS
        };
        let edge = Position {
            due: now.saturating_sub(margin),
            id: Uuid::nil(),
        };
        let from = if is_complete {
            Position::default()
        } else {
            self.from.min(edge)
        };
        Look {
            from,
            is_complete,
            began,
        }
    }

    fn ended(&mut self, look: Look, at: Instant) {
        if look.is_complete {
            self.complete.note(at, at.duration_since(look.began));
        }
    }

    /// Removes mails from the list. When it is empty and held all mails that were due, the next poll
    /// begins after the last of them.
    fn pass(&mut self, passed: &[Position]) {
        self.listed.mails.retain(|listed| !passed.contains(listed));
        if let Some(last) = self.listed.last.filter(|_| self.listed.mails.is_empty()) {
            self.from = self.from.max(last);
        }
    }

    /// Records the mails that a poll found due by `now`.
    fn list(&mut self, look: Look, at: Instant, now: i64, found: DueList) {
        self.ended(look, at);
        self.now = Some((now, at));
        self.from = found.first.unwrap_or(Position {
            due: now,
            id: Uuid::nil(),
        });
        self.listed = found;
        self.listed_at = Some(at);
    }
}

/// Finds the first of the listed mails that are still due, by their ids, and locks each with its joined
/// mails. A mail is skipped while another transaction has locked one of these rows: the claim would wait,
/// and delay all other mails.
///
/// Only a waiting mail has a next attempt, so there is no condition on the status: with one, the planner
/// might read the index of all waiting mails.
const FIRST: &str = "SELECT t.n, n.*
     FROM unnest($1::UUID[]) WITH ORDINALITY AS t (id, n)
     CROSS JOIN LATERAL (
         SELECT n.id, coalesce(n.variant, n.kind) AS kind, n.next_attempt_at, n.head_office_id, mailbox(n.recipient) AS mailbox,
             n.is_held, n.leased_until IS NOT NULL AS has_place,
             coalesce(o.status <> 'IN_PRE_AUTH' OR o.expires_at < $2, FALSE) AS is_over,
             o.expires_at AS offer_ends,
             (SELECT 1 FROM suppressed_addresses s
              WHERE s.mailbox = mailbox(n.recipient) LIMIT 1) IS NOT NULL AS is_suppressed,
             (SELECT 1 FROM notices j
              WHERE j.joined_to = t.id AND j.status || '' = 'PENDING' LIMIT 1) IS NOT NULL AS has_joined
         FROM notices n LEFT JOIN operations o ON o.id = ANY (ARRAY[n.operation_id])
         WHERE n.id = t.id AND n.next_attempt_at <= $2 AND n.joined_to IS NULL
           AND (n.leased_until IS NULL
                OR n.leased_until <= (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT)
           AND (SELECT count(*) FROM notices j
                WHERE j.joined_to = t.id AND j.status || '' = 'PENDING')
               = (SELECT count(*) FROM (
                      SELECT 1 FROM notices j
                      WHERE j.joined_to = t.id AND j.status || '' = 'PENDING'
                      FOR NO KEY UPDATE SKIP LOCKED) AS free)
         LIMIT 1 FOR NO KEY UPDATE OF n SKIP LOCKED) AS n
     LIMIT $3";

/// The next due time of the mails without a valid lease and of those whose lease has expired; and the
/// earliest end of an expired lease.
const NEXT_DUE: &str = "WITH clock (now) AS MATERIALIZED (
         SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT),
     expired AS MATERIALIZED (
         SELECT min(next_attempt_at) AS due, min(leased_until) AS leased_until
         FROM (SELECT next_attempt_at, leased_until FROM notices
               WHERE leased_until IS NOT NULL AND leased_until >= $3
                 AND leased_until <= (SELECT now FROM clock) AND joined_to IS NULL
               ORDER BY leased_until LIMIT $4) AS e)
     SELECT least((SELECT next_attempt_at FROM notices
                   WHERE status = 'PENDING' AND (next_attempt_at, id) >= ($1, $2)
                     AND joined_to IS NULL
                     AND (leased_until IS NULL OR leased_until <= (SELECT now FROM clock))
                   ORDER BY next_attempt_at, id LIMIT 1), e.due) AS due,
            coalesce(e.leased_until, (SELECT now FROM clock)) AS expired_from
     FROM expired e";

/// The next due mails, at most one for each mailbox.
pub(super) async fn next(
    connection: &mut PgConnection,
    claim: &MailClaim,
    due: &DueMails,
) -> Result<Vec<Row>, WriteError> {
    let listed = due.with(|state| state.listed(Instant::now()));
    let next = first(connection, claim, due, &listed).await?;
    if !next.is_empty() {
        return Ok(next);
    }
    let now = claim.now;
    let (look, office) = due.with(|state| (state.look(Instant::now()), state.listed.office));
    let found = mails::list(connection, now, look.from, office, MAX_LISTED).await?;
    let listed = found.mails.clone();
    due.with(|state| state.list(look, Instant::now(), now.unix_millis(), found));
    first(connection, claim, due, &listed).await
}

/// The first of the listed mails that are still due, at most one for each mailbox. These are removed from
/// the list, and so are mails before them that are no longer due; further mails to the same mailboxes
/// stay.
async fn first(
    connection: &mut PgConnection,
    claim: &MailClaim,
    due: &DueMails,
    listed: &[Position],
) -> Result<Vec<Row>, WriteError> {
    if listed.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<_> = listed.iter().map(|listed| listed.id).collect();
    let rows = sqlx::query(FIRST)
        .bind(&ids)
        .bind(claim.now.unix_millis())
        .bind(i64::from(claim.limit))
        .fetch_all(connection)
        .await?;
    let is_full = rows.len() >= usize::try_from(claim.limit).unwrap_or(usize::MAX);
    let last: Option<i64> = rows.last().map(|row| row.try_get("n")).transpose()?;
    let last = last.filter(|_| is_full);
    let read = last.and_then(|last| listed.get(..usize::try_from(last).ok()?));
    let rows = rows.into_iter().map(Row::Postgres).collect();
    let (next, others) = mails::one_for_each_mailbox(rows)?;
    let passed = read.unwrap_or(listed).iter();
    let passed: Vec<_> = passed
        .filter(|it| !others.contains(&it.id))
        .copied()
        .collect();
    due.with(|state| state.pass(&passed));
    Ok(next)
}

/// The earliest due time of a mail without a valid lease.
pub(super) async fn next_due(
    connection: &mut PgConnection,
    due: &DueMails,
) -> Result<Option<Timestamp>, Fault> {
    let listed = due.with(|state| state.listed(Instant::now()));
    if let Some(first) = listed.iter().min() {
        return Ok(Timestamp::from_unix_millis(first.due));
    }
    let (look, expired_from) = due.with(|state| (state.look(Instant::now()), state.expired_from));
    let row = sqlx::query(NEXT_DUE)
        .bind(look.from.due)
        .bind(look.from.id)
        .bind(expired_from)
        .bind(MAX_EXPIRED)
        .fetch_one(connection)
        .await?;
    let (found, expired_from): (Option<i64>, i64) =
        (row.try_get("due")?, row.try_get("expired_from")?);
    due.with(|state| {
        state.ended(look, Instant::now());
        state.expired_from = expired_from;
        // The next poll begins there.
        let found = found.map(|due| Position {
            due,
            id: Uuid::nil(),
        });
        state.from = found.map_or(state.from, |found| state.from.min(found));
    });
    Ok(found.and_then(Timestamp::from_unix_millis))
}
