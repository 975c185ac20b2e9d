//! API keys and their rate windows: concurrent requests are looked up and counted by one statement.

use std::collections::HashMap;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{ApiKeyId, Timestamp};
use sqlx::PgConnection;
use sqlx::postgres::PgRow;

use crate::access::{Access, KeyHash, KeyRecord, RateLimit, Window};
use crate::store::error::{Fault, unavailable_to_all};
use crate::store::exhausted::Known;
use crate::store::rows::key_record;
use crate::store::sql::access;

use super::PostgresStore;
use super::connections::Connections;
use super::held::{HeldRows, Turns};
use super::rate_counts::{self, Party};
use super::rows::{Columns, place};
use super::session;
use crate::store::grouping::Serve;

#[async_trait]
impl Access for PostgresStore {
    async fn authenticate(
        &self,
        key: &KeyHash,
        limit: RateLimit,
        now: Timestamp,
    ) -> Result<Option<KeyRecord>, Unavailable> {
        let lookup = KeyLookup {
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
            // After a broken connection the request may be counted twice, which is harmless.
            match self.lookups.ask(lookup).await.map_err(Fault::from)?? {
                Authenticated::Known(None) => return Ok(None),
                Authenticated::Known(Some(entry)) => {
                    self.exhausted.note(*key, limit, &entry);
                    return Ok(Some(*entry));
                }
                Authenticated::Outrun if !turns.are_over() => {}
                Authenticated::Held if turns.next().await => {}
                Authenticated::Held | Authenticated::Outrun => {
                    return Err(Fault::StillLocked.into());
                }
            }
        }
    }

    async fn find(&self, key: &KeyHash) -> Result<Option<KeyRecord>, Unavailable> {
        let found = self.read(key, |connection, key| {
            Box::pin(access::find(connection, key))
        });
        Ok(found.await?)
    }

    async fn key_hashes(
        &self,
        after: ApiKeyId,
        limit: u32,
    ) -> Result<Vec<(ApiKeyId, KeyHash)>, Unavailable> {
        let input = (after, limit);
        let found = self.read(&input, |connection, (after, limit)| {
            Box::pin(access::key_hashes(connection, *after, *limit))
        });
        Ok(found.await?)
    }
}

impl PostgresStore {
    /// Whether a key whose window is used up is still valid. If the database does not answer, the
    /// cached state is used.
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

/// Looks up the keys of many requests together.
#[derive(Debug)]
pub(super) struct KeyLookups {
    connections: Connections,
    held: HeldRows,
}

/// The outcome of a lookup.
#[derive(Debug)]
pub(super) enum Authenticated {
    /// The key with its window, if it exists.
    Known(Option<Box<KeyRecord>>),
    /// The key's window is locked by another transaction; the request was not counted.
    Held,
    /// Concurrent requests filled the row in which this one would count; it was not counted.
    Outrun,
}

/// Lookups, and whether locked windows are skipped.
type Group = (Vec<KeyLookup>, bool);

impl KeyLookups {
    pub(super) fn new(connections: Connections) -> Self {
        Self {
            connections,
            held: HeldRows::default(),
        }
    }

    async fn authenticate(
        &self,
        group: &Group,
    ) -> Result<Vec<Result<Authenticated, Fault>>, Fault> {
        session::read(
            &self.connections,
            group,
            |connection, (lookups, leave_out)| {
                Box::pin(authenticate_all(connection, lookups, *leave_out))
            },
        )
        .await
    }
}

#[async_trait]
impl Serve for KeyLookups {
    type Request = KeyLookup;
    type Answer = Result<Authenticated, Unavailable>;

    async fn serve(&self, lookups: Vec<KeyLookup>) -> Vec<Self::Answer> {
        let callers = lookups.len();
        let mut group = (lookups, self.held.are_left_out());
        let mut entered = self.authenticate(&group).await;
        if !group.1 && entered.as_ref().is_err_and(Fault::is_locked) {
            self.held.note();
            group.1 = true;
            entered = self.authenticate(&group).await;
        }
        match entered {
            Ok(answers) => {
                if answers
                    .iter()
                    .any(|it| matches!(it, Ok(Authenticated::Held)))
                {
                    self.held.note();
                }
                let answer = |answer: Result<_, Fault>| answer.map_err(Unavailable::from);
                answers.into_iter().map(answer).collect()
            }
            Err(fault) if fault.is_locked() => {
                (0..callers).map(|_| Ok(Authenticated::Held)).collect()
            }
            Err(fault) => unavailable_to_all(callers, fault),
        }
    }
}

/// One request to be counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyLookup {
    hash: KeyHash,
    limit: RateLimit,
    now: Timestamp,
}

/// Looks up the keys of all lookups and counts the lookups in their keys' windows. Takes one round
/// trip, because all lookups of a process have the same limit.
///
/// Waits for windows that another transaction has locked, unless locked windows are skipped.
async fn authenticate_all(
    connection: &mut PgConnection,
    lookups: &[KeyLookup],
    leave_out: bool,
) -> Result<Vec<Result<Authenticated, Fault>>, Fault> {
    let mut by_limit: HashMap<RateLimit, Vec<(usize, KeyLookup)>> = HashMap::new();
    for (place, lookup) in lookups.iter().enumerate() {
        by_limit
            .entry(lookup.limit)
            .or_default()
            .push((place, *lookup));
    }
    let mut answers: Vec<_> = lookups
        .iter()
        .map(|_| Ok(Authenticated::Known(None)))
        .collect();
    for (limit, lookups) in by_limit {
        authenticate(connection, limit, parties(lookups), leave_out, &mut answers).await?;
    }
    Ok(answers)
}

/// Counts the parties' lookups, and returns an outcome for each.
async fn authenticate(
    connection: &mut PgConnection,
    limit: RateLimit,
    mut parties: Vec<Party>,
    leave_out: bool,
    answers: &mut [Result<Authenticated, Fault>],
) -> Result<(), Fault> {
    let rows = rate_counts::count(connection, limit, &parties, leave_out).await?;
    for row in &rows {
        let columns = Columns::of("api_keys", row);
        let Some(party) = place(columns, "n", &mut parties)? else {
            continue;
        };
        for (behind, place) in (0..).zip(party.lookups.iter().rev()) {
            if let Some(answer) = answers.get_mut(*place) {
                *answer = authenticated(row, limit, behind);
            }
        }
    }
    Ok(())
}

fn parties(lookups: Vec<(usize, KeyLookup)>) -> Vec<Party> {
    let mut parties: Vec<Party> = Vec::new();
    let mut known: HashMap<KeyHash, usize> = HashMap::new();
    for (place, lookup) in lookups {
        let of_key = *known.entry(lookup.hash).or_insert(parties.len());
        match parties.get_mut(of_key) {
            Some(party) => {
                party.now = party.now.min(lookup.now);
                party.lookups.push(place);
            }
            None => parties.push(Party {
                hash: lookup.hash,
                now: lookup.now,
                lookups: vec![place],
            }),
        }
    }
    parties
}

fn authenticated(row: &PgRow, limit: RateLimit, behind: u32) -> Result<Authenticated, Fault> {
    if Columns::of("api_keys", row).raw("is_held")? {
        return Ok(Authenticated::Held);
    }
    if Columns::of("api_keys", row).raw("is_outrun")? {
        return Ok(Authenticated::Outrun);
    }
    let record = key_record(row, window(row, limit, behind)?)?;
    Ok(Authenticated::Known(Some(Box::new(record))))
}

/// The window of one lookup, with `behind` others of its group after it.
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
