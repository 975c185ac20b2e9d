//! Counts rate windows in memory, and saves them behind the requests: this process alone counts.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::value::{ApiKeyId, Timestamp};
use sqlx::SqliteConnection;
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::access::{RateLimit, Window};
use crate::log::chain;
use crate::store::error::WriteError;

use super::writer::Writer;

/// Maximum time until a count is saved; the end of the process may lose the counts of this time.
const SAVE_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of windows per write.
const MAX_SAVED: usize = 1024;

/// The windows of all keys that this process has seen.
#[derive(Debug, Default)]
pub(super) struct RateWindows {
    state: Mutex<State>,
    /// Notified when a window is left to be saved.
    unsaved: Notify,
    /// Whoever saves waits for the one who is saving.
    saving: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    keys: HashMap<ApiKeyId, KeyUse>,
    unsaved: HashSet<ApiKeyId>,
}

/// The window of a key, and when the key was used last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyUse {
    pub(super) window: Window,
    pub(super) last_used_at: Timestamp,
}

impl RateWindows {
    /// Continues with the stored window of a key, unless it is known already.
    pub(super) fn continue_from(&self, key: ApiKeyId, stored: KeyUse) {
        self.lock().keys.entry(key).or_insert(stored);
    }

    /// Counts a request in its key's window, in a new one when the old one is over. Nothing is counted
    /// in a window that is used up.
    ///
    /// Requests may arrive here in another order than they were made, so an earlier time counts in the
    /// current window; a difference of a whole window means that the clock was set back.
    pub(super) fn count(&self, key: ApiKeyId, limit: RateLimit, now: Timestamp) -> Window {
        let length = TimeDelta::seconds(limit.window_seconds.into());
        let mut state = self.lock();
        let new = KeyUse {
            window: Window {
                count: 0,
                started_at: now,
            },
            last_used_at: now,
        };
        let entry = state.keys.entry(key).or_insert(new);
        if now.since(entry.window.started_at).abs() >= length {
            entry.window = new.window;
        }
        if entry.window.count > limit.requests {
            return entry.window;
        }
        entry.window.count = entry.window.count.saturating_add(1);
        entry.last_used_at = entry.last_used_at.max(now);
        let counted = entry.window;
        if state.unsaved.insert(key) && state.unsaved.len() == 1 {
            self.unsaved.notify_one();
        }
        counted
    }

    /// Saves what was counted so far.
    pub(super) async fn save(&self, writer: &Writer) -> Result<(), WriteError> {
        let _saving = self.saving.lock().await;
        loop {
            let changed = self.take_unsaved();
            if changed.is_empty() {
                return Ok(());
            }
            let keys: Vec<ApiKeyId> = changed.iter().map(|(key, _)| *key).collect();
            // A power failure may lose the counts, which is harmless, so the write need not wait for
            // the disk.
            let saved = writer.write_relaxed(changed, |connection, changed| {
                Box::pin(store(connection, changed))
            });
            if let Err(error) = saved.await {
                self.lock().unsaved.extend(keys);
                self.unsaved.notify_one();
                return Err(error);
            }
        }
    }

    /// Saves the windows at intervals, as long as the writer exists.
    pub(super) async fn keep_saved(self: Arc<Self>, writer: Weak<Writer>) {
        loop {
            self.unsaved.notified().await;
            sleep(SAVE_INTERVAL).await;
            let Some(writer) = writer.upgrade() else {
                return;
            };
            if let Err(error) = self.save(&writer).await {
                let error = chain(&error);
                tracing::warn!(error, "rate windows were not saved; trying again");
            }
        }
    }

    fn take_unsaved(&self) -> Vec<(ApiKeyId, KeyUse)> {
        let mut state = self.lock();
        let keys: Vec<ApiKeyId> = state.unsaved.iter().copied().take(MAX_SAVED).collect();
        for key in &keys {
            state.unsaved.remove(key);
        }
        let used = keys.into_iter().filter_map(|key| {
            let entry = state.keys.get(&key)?;
            Some((key, *entry))
        });
        used.collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn store(
    connection: &mut SqliteConnection,
    changed: &[(ApiKeyId, KeyUse)],
) -> Result<(), WriteError> {
    let rows: Vec<_> = changed
        .iter()
        .map(|(key, entry)| {
            let Window { count, started_at } = entry.window;
            let key = key.as_uuid().simple().to_string();
            let (started_at, last_used_at) =
                (started_at.unix_millis(), entry.last_used_at.unix_millis());
            (key, started_at, count, last_used_at)
        })
        .collect();
    // `WHERE TRUE` keeps SQLite from reading ON as the beginning of a join's condition.
    sqlx::query(
        "INSERT INTO rate_windows (api_key_id, started_at, count, last_used_at)
         SELECT unhex(value ->> 0), value ->> 1, value ->> 2, value ->> 3 FROM json_each(?1) WHERE TRUE
         ON CONFLICT (api_key_id) DO UPDATE
         SET started_at = excluded.started_at, count = excluded.count,
             last_used_at = excluded.last_used_at",
    )
    .bind(serde_json::json!(rows).to_string())
    .execute(connection)
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use preauth_core::value::{ApiKeyId, Timestamp};
    use uuid::Uuid;

    use super::{KeyUse, RateWindows};
    use crate::access::{RateLimit, Window};

    const LIMIT: RateLimit = RateLimit {
        requests: 3,
        window_seconds: 60,
    };

    fn key() -> ApiKeyId {
        ApiKeyId::new(Uuid::from_u128(1))
    }

    fn at(seconds: i64) -> Timestamp {
        let now = Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap();
        now.saturating_add(TimeDelta::seconds(seconds))
    }

    fn stored(count: u32) -> KeyUse {
        KeyUse {
            window: Window {
                count,
                started_at: at(0),
            },
            last_used_at: at(9),
        }
    }

    #[test]
    fn a_stored_window_goes_on() {
        let windows = RateWindows::default();
        windows.continue_from(key(), stored(2));
        assert_eq!(windows.count(key(), LIMIT, at(59)), stored(3).window);
        // It is read again when the key is looked up again.
        windows.continue_from(key(), stored(2));
        assert_eq!(windows.count(key(), LIMIT, at(59)), stored(4).window);
        assert_eq!(windows.count(key(), LIMIT, at(60)).count, 1);
    }

    #[test]
    fn a_request_that_is_not_counted_leaves_nothing_to_be_saved() {
        let windows = RateWindows::default();
        windows.continue_from(key(), stored(4));
        assert_eq!(windows.count(key(), LIMIT, at(10)), stored(4).window);
        assert!(windows.take_unsaved().is_empty());
    }

    #[test]
    fn what_was_counted_is_saved_once() {
        let windows = RateWindows::default();
        windows.count(key(), LIMIT, at(0));
        windows.count(key(), LIMIT, at(9));
        assert_eq!(windows.take_unsaved(), [(key(), stored(2))]);
        assert!(windows.take_unsaved().is_empty());
    }
}
