//! Moves the sandbox's clock, and stores by how much.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use chrono::TimeDelta;
use preauth_core::value::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Clock, TravelClock};
use crate::files;

/// The file in the data folder with the offset of the sandbox's clock from the machine's: stored
/// records may lie in the machine's future, and must not lie in the sandbox's.
const FILE_NAME: &str = "sandbox-clock.json";
/// Maximum jump: a leap year.
const MAX_JUMP_SECONDS: u64 = 366 * 86_400;
/// Maximum offset: ten maximum jumps.
const MAX_AHEAD_SECONDS: u64 = 10 * MAX_JUMP_SECONDS;

/// Moves the clock of a sandbox; a server in production has none.
#[derive(Debug)]
pub struct TimeMachine {
    clock: Arc<TravelClock>,
    file: PathBuf,
    /// The offset of the clock; locked while it moves, so that file and clock agree.
    ahead_seconds: Mutex<u64>,
}

/// Why the clock was not moved.
#[derive(Debug, Error)]
pub enum TravelError {
    /// The jump is too long, or leads beyond ten years from now.
    #[error("the clock can be advanced by {} d at most, {max_seconds} s", max_seconds / 86_400)]
    TooFar {
        /// The maximum jump now.
        max_seconds: u64,
    },
    /// The offset could not be stored, so the clock was not moved.
    #[error("the sandbox's time could not be written to its data folder")]
    NotKept(#[from] io::Error),
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kept {
    ahead_seconds: u64,
}

impl TimeMachine {
    /// Opens the time machine of the sandbox in `data`, with the offset of an earlier one; fails if
    /// its file cannot be read.
    pub fn open(data: &Path) -> io::Result<Self> {
        let file = data.join(FILE_NAME);
        let kept: Kept = match std::fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text)?,
            Err(error) if error.kind() == ErrorKind::NotFound => Kept::default(),
            Err(error) => return Err(error),
        };
        let ahead_seconds = kept.ahead_seconds.min(MAX_AHEAD_SECONDS);
        Ok(Self {
            clock: Arc::new(TravelClock::ahead_by(seconds(ahead_seconds))),
            file,
            ahead_seconds: Mutex::new(ahead_seconds),
        })
    }

    /// Moves the sandbox's clock forward in one step and returns the new time.
    ///
    /// Everything that falls due on the way happens once, at the end.
    pub fn advance(&self, by_seconds: u64) -> Result<Timestamp, TravelError> {
        let mut ahead_seconds = self.lock();
        let max_seconds = reach(*ahead_seconds);
        if by_seconds > max_seconds {
            return Err(TravelError::TooFar { max_seconds });
        }
        if by_seconds > 0 {
            let reached = ahead_seconds.saturating_add(by_seconds);
            let kept = serde_json::to_vec(&Kept {
                ahead_seconds: reached,
            })
            .map_err(io::Error::from)?;
            // Stored first: after a crash in between, the clock must not go back behind stored
            // records.
            files::replace_private(&self.file, &kept)?;
            self.clock.advance(seconds(by_seconds));
            *ahead_seconds = reached;
        }
        let now = self.clock.now();
        tracing::info!(target: "clock", %now, seconds = by_seconds, "advanced");
        Ok(now)
    }

    /// The maximum jump now, in seconds.
    #[must_use]
    pub fn reach_seconds(&self) -> u64 {
        reach(*self.lock())
    }

    /// The clock that it moves.
    #[must_use]
    pub const fn clock(&self) -> &Arc<TravelClock> {
        &self.clock
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, u64> {
        self.ahead_seconds
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn reach(ahead_seconds: u64) -> u64 {
    MAX_JUMP_SECONDS.min(MAX_AHEAD_SECONDS.saturating_sub(ahead_seconds))
}

fn seconds(count: u64) -> TimeDelta {
    i64::try_from(count)
        .ok()
        .and_then(TimeDelta::try_seconds)
        .unwrap_or(TimeDelta::MAX)
}

#[cfg(test)]
mod tests {
    use super::{MAX_AHEAD_SECONDS, MAX_JUMP_SECONDS, TimeMachine, TravelError};

    const DAY: u64 = 86_400;

    fn ahead_seconds(machine: &TimeMachine) -> i64 {
        machine.clock().ahead().num_seconds()
    }

    #[test]
    fn the_next_start_goes_on_in_the_same_time() {
        let folder = tempfile::tempdir().unwrap();
        let machine = TimeMachine::open(folder.path()).unwrap();
        machine.advance(3 * DAY).unwrap();
        machine.advance(DAY).unwrap();
        let next = TimeMachine::open(folder.path()).unwrap();
        assert_eq!(ahead_seconds(&next), 4 * 86_400);
        next.advance(1).unwrap();
        assert_eq!(ahead_seconds(&next), 4 * 86_400 + 1);
    }

    #[test]
    fn a_jump_has_a_longest_and_time_an_end() {
        let folder = tempfile::tempdir().unwrap();
        let machine = TimeMachine::open(folder.path()).unwrap();
        let too_long = machine.advance(MAX_JUMP_SECONDS + 1);
        assert!(matches!(too_long, Err(TravelError::TooFar { .. })));
        for _ in 0..10 {
            machine.advance(MAX_JUMP_SECONDS).unwrap();
        }
        let end = machine.advance(1);
        assert!(matches!(end, Err(TravelError::TooFar { max_seconds: 0 })));
        assert!(machine.advance(0).is_ok());
        assert_eq!(ahead_seconds(&machine).unsigned_abs(), MAX_AHEAD_SECONDS);
    }

    #[test]
    fn a_jump_that_cannot_be_kept_is_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let machine = TimeMachine::open(folder.path()).unwrap();
        folder.close().unwrap();
        let lost = machine.advance(DAY);
        assert!(matches!(lost, Err(TravelError::NotKept(_))));
        assert_eq!(ahead_seconds(&machine), 0);
    }

    #[test]
    fn a_broken_file_stops_the_start() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(super::FILE_NAME), "tomorrow").unwrap();
        assert!(TimeMachine::open(folder.path()).is_err());
    }
}
