//! Marks demo data that is being made, so that a start that was cut off is noticed and made good.

use std::io;
use std::path::{Path, PathBuf};

use crate::files;

const MARK: &str = "sandbox-is-being-made";

/// Demo data in the making, in a database that was empty when it began.
#[must_use]
pub struct Seeding {
    mark: PathBuf,
}

impl Seeding {
    /// Leaves the mark.
    pub fn begin(data: &Path) -> io::Result<Self> {
        let mark = data.join(MARK);
        std::fs::write(&mark, "")?;
        Ok(Self { mark })
    }

    /// Takes the mark away: everything is made and kept.
    pub fn end(self) -> io::Result<()> {
        std::fs::remove_file(self.mark)
    }

    /// Whether an earlier start left its mark.
    #[must_use]
    pub fn was_cut_off(data: &Path) -> bool {
        data.join(MARK).exists()
    }

    /// Removes a database that holds nothing but what was cut off.
    pub fn discard(database: &Path) -> io::Result<()> {
        for suffix in ["", "-wal", "-shm"] {
            let mut path = database.as_os_str().to_owned();
            path.push(suffix);
            files::remove_if_there(Path::new(&path))?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for Seeding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seeding").finish_non_exhaustive()
    }
}
