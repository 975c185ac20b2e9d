//! Idle connections, kept for the next request to their receiver.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::TimeDelta;

use crate::clock::Stopwatch;

use super::connection::Connection;

/// Maximum number of connections kept per receiver: that of an endpoint's attempts in progress.
const MAX_PER_ORIGIN: usize = 64;
/// Maximum number of connections kept in all.
const MAX_IN_ALL: usize = 512;
/// Maximum idle time of a kept connection; receivers tend to close theirs after a minute.
const MAX_IDLE: TimeDelta = TimeDelta::seconds(50);
/// Maximum age of a connection when it is reused. A name is looked up when a connection is opened,
/// so this bounds the time until a receiver's new address is used.
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
    /// The most recently used connection to `origin`, if one is kept.
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

    /// Keeps a reusable connection if there is room; otherwise closes it.
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
