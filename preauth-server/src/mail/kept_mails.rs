//! Removes mails that became files once their records are gone, by age, by an erasure or by a restore.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{ReadDir, read_dir};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use chrono::TimeDelta;
use preauth_core::port::Unavailable;
use preauth_core::value::{MailId, Timestamp};

use super::Folder;
use crate::directory::Directory;
use crate::files::remove_if_there;

/// Files of one step.
const BATCH: usize = 200;
/// Pause between two walks through the folder.
const REST: TimeDelta = TimeDelta::hours(1);

/// The mails in an instance's folder. A file is written while the record of its mail is leased, so one without a
/// record is nobody's any more.
pub(crate) struct KeptMails {
    folder: Folder,
    directory: Arc<dyn Directory>,
    walk: Mutex<Walk>,
}

/// The walk through the folder, in the order in which the system lists it.
#[derive(Default)]
enum Walk {
    /// None is under way, and the next one begins at this time, or at once.
    Rests { until: Option<Timestamp> },
    /// What is left of it.
    Goes(ReadDir),
    /// A step has taken it.
    #[default]
    Taken,
}

impl KeptMails {
    /// The mails in `folder`, whose records are in `directory`.
    pub(crate) fn new(folder: Folder, directory: Arc<dyn Directory>) -> Self {
        Self {
            folder,
            directory,
            walk: Mutex::new(Walk::Rests { until: None }),
        }
    }

    /// A step of the walk; returns the number of removed files.
    pub(crate) async fn sweep(&self, now: Timestamp) -> Result<u64, Unavailable> {
        let walk = match self.replace(Walk::Taken) {
            // A clock that was ahead does not put the next walk off for longer.
            Walk::Rests { until: Some(until) }
                if now < until && until <= now.saturating_add(REST) =>
            {
                self.replace(Walk::Rests { until: Some(until) });
                return Ok(0);
            }
            Walk::Goes(rest) => Some(rest),
            Walk::Rests { .. } | Walk::Taken => None,
        };
        let folder = self.folder.path().to_owned();
        let (files, rest) = self
            .off_the_runtime(move || next_files(walk, &folder))
            .await?;
        self.replace(rest.map_or_else(
            || Walk::Rests {
                until: Some(now.saturating_add(REST)),
            },
            Walk::Goes,
        ));
        if files.is_empty() {
            return Ok(0);
        }
        let ids: BTreeSet<MailId> = files.iter().map(|(id, _)| *id).collect();
        let ids: Vec<_> = ids.into_iter().collect();
        let known = self.directory.recorded_mails(&ids).await?;
        let unknown = files.into_iter().filter(|(id, _)| !known.contains(id));
        let unknown: Vec<PathBuf> = unknown.map(|(_, path)| path).collect();
        self.off_the_runtime(move || remove_all(&unknown)).await
    }

    /// Whether a walk is under way.
    pub(crate) fn is_walking(&self) -> bool {
        let walk = self.walk.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(*walk, Walk::Goes(_))
    }

    async fn off_the_runtime<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> Result<T, Unavailable> {
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|panicked| Err(io::Error::other(panicked)))
            .map_err(|error| Unavailable {
                cause: format!("{}: {error}", self.folder.path().display()).into(),
            })
    }

    fn replace(&self, walk: Walk) -> Walk {
        let mut now = self.walk.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut now, walk)
    }
}

/// The next files that are mails, and what is left of the walk, if anything is.
type Step = (Vec<(MailId, PathBuf)>, Option<ReadDir>);

fn next_files(walk: Option<ReadDir>, folder: &Path) -> io::Result<Step> {
    let mut walk = match walk.map_or_else(|| read_dir(folder), Ok) {
        Ok(walk) => walk,
        // No mail became a file here.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), None)),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for _ in 0..BATCH {
        let Some(entry) = walk.next() else {
            return Ok((files, None));
        };
        let entry = entry?;
        if let Some(id) = entry.file_name().to_str().and_then(mail_of) {
            files.push((id, entry.path()));
        }
    }
    Ok((files, Some(walk)))
}

/// Removes files, and logs how many; returns their number.
fn remove_all(files: &[PathBuf]) -> io::Result<u64> {
    let mut removed: u64 = 0;
    let outcome = files.iter().try_for_each(|path| -> io::Result<()> {
        remove_if_there(path)?;
        removed = removed.saturating_add(1);
        Ok(())
    });
    if removed > 0 {
        tracing::info!(
            target: "mail",
            removed,
            "files of mails that have no record any more are removed"
        );
    }
    outcome.map(|()| removed)
}

/// The mail whose file has this name, whole or in the making.
fn mail_of(name: &str) -> Option<MailId> {
    let name = name.strip_suffix(".part").unwrap_or(name);
    let id = name.strip_suffix(".eml")?;
    MailId::parse(id).ok()
}

impl fmt::Debug for KeptMails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptMails")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::mail_of;

    #[test]
    fn a_mail_is_known_by_the_name_of_its_file() {
        let id = "01a1fe3a-2b9d-7f60-9d51-0a7c5be1d2f3";
        for name in [format!("{id}.eml"), format!("{id}.eml.part")] {
            assert_eq!(mail_of(&name).unwrap().to_string(), id, "{name}");
        }
        for other in ["notes.eml", "01a1fe3a.eml", "README", ".eml"] {
            assert_eq!(mail_of(other), None, "{other}");
        }
        assert_eq!(mail_of(id), None);
    }
}
