//! Whether the disk has room again after a write failed for lack of it.
//!
//! The log has pages that are used again, so that a small write may succeed on a full disk while every create
//! fails.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::spawn_blocking;

use crate::store::error::code;

/// SQLite's codes for a disk without room, and for a write that failed, as it does when a quota is used up.
const WITHOUT_ROOM: [&str; 2] = ["13", "778"];
/// What a disk with room takes: more than a group of creates writes.
const ROOM_BYTES: usize = 1 << 20;

/// Whether a write failed for lack of room, and no room was found since.
#[derive(Debug, Default)]
pub(super) struct Room {
    is_lacking: AtomicBool,
}

impl Room {
    /// Notes the failure of a write.
    pub(super) fn note(&self, error: &sqlx::Error) {
        if code(error).is_some_and(|code| WITHOUT_ROOM.contains(&&*code)) {
            self.is_lacking.store(true, Ordering::Relaxed);
        }
    }

    /// After such a failure, writes a file without a name beside the database; fails as long as it cannot.
    pub(super) async fn find(&self, database: &Path) -> io::Result<()> {
        if !self.is_lacking.load(Ordering::Relaxed) {
            return Ok(());
        }
        let folder = database.parent().filter(|it| !it.as_os_str().is_empty());
        let folder = folder.map_or_else(|| PathBuf::from("."), Path::to_owned);
        let written =
            spawn_blocking(move || tempfile::tempfile_in(folder)?.write_all(&vec![0; ROOM_BYTES]));
        written.await.map_err(io::Error::other)??;
        self.is_lacking.store(false, Ordering::Relaxed);
        Ok(())
    }
}
