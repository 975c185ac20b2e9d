//! Connections that wait for the next request to their receiver.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::TimeDelta;

use crate::clock::Stopwatch;

use super::connection::Connection;

/// Connections kept per receiver: as many as one endpoint may have attempts under way.
const MAX_PER_ORIGIN: usize = 64;
/// Connections kept in all.
const MAX_IN_ALL: usize = 512;
/// How long an unused connection is kept; receivers tend to close theirs after a minute.
const MAX_IDLE: TimeDelta = TimeDelta::seconds(50);
/// How old a connection may be when it is used, so that a receiver who moves is followed: its name
/// is looked up when a connection is opened.
const MAX_AGE: TimeDelta = TimeDelta::minutes(5);

/// Kept connections, by scheme, host and port.
#[derive(Default)]
pub(super) struct Pool(Mutex<HashMap<String, Vec<Kept>>>);

struct Kept {
    connection: Connection,
    since: Stopwatch,
}

impl Kept {
    fn is_fresh(&self) -> bool {
        !self.connection.is_closed()
            && self.since.elapsed() < MAX_IDLE
            && self.connection.age() < MAX_AGE
    }
}

impl Pool {
    /// The connection to `origin` that was used last, if one is kept.
    pub(super) fn take(&self, origin: &str) -> Option<Connection> {
        let mut all = self.all();
        let kept = all.get_mut(origin)?;
        kept.retain(Kept::is_fresh);
        let taken = kept.pop();
        if kept.is_empty() {
            all.remove(origin);
        }
        taken.map(|kept| kept.connection)
    }

    /// Keeps a connection that can be used again, if there is room; closes it otherwise.
    pub(super) fn keep(&self, origin: &str, connection: Connection) {
        let mut all = self.all();
        if all.values().map(Vec::len).sum::<usize>() >= MAX_IN_ALL {
            all.retain(|_, kept| {
                kept.retain(Kept::is_fresh);
                !kept.is_empty()
            });
        }
        let in_all = all.values().map(Vec::len).sum::<usize>();
        let of_origin = all.get(origin).map_or(0, Vec::len);
        if in_all < MAX_IN_ALL && of_origin < MAX_PER_ORIGIN {
            let since = Stopwatch::start();
            let kept = Kept { connection, since };
            all.entry(origin.to_owned()).or_default().push(kept);
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Vec<Kept>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
