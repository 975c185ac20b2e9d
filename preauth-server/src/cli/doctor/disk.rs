//! Free space where the server writes.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};

use crate::config::Config;
use crate::invoice_files::is_s3;

use super::report::Report;

const DISK: &str = "disk";
/// Uploads in progress and SQLite's log may take as much.
const LOW_BYTES: u64 = 2 << 30;
const TOO_LOW_BYTES: u64 = 256 << 20;
const TOO_FEW_FILES: u64 = 1_000;

/// Looks at the data folder, that of the database and that of the invoice files.
pub(super) fn examine(config: &Config, report: &mut Report) {
    let mut folders = vec![("data", config.data.clone())];
    if let Some(folder) = config.database_url.file().and_then(Path::parent) {
        folders.push(("database", folder.to_owned()));
    }
    if is_s3(&config.files_place) {
        report.ok(
            DISK,
            &format!("invoice files are at {}", config.files_place),
        );
    } else {
        folders.push(("invoice files", PathBuf::from(&config.files_place)));
    }
    for (what, folder) in folders {
        folder_of(what, &folder, report);
    }
}

fn folder_of(what: &str, folder: &Path, report: &mut Report) {
    let there = existing(folder);
    let shown = there.display();
    let state = match statvfs(there) {
        Ok(state) => state,
        Err(error) => {
            let found = format!("{what}: {shown} cannot be looked at: {error}");
            report.failed(DISK, &found, Some("run this as the server's user"));
            return;
        }
    };
    if state.f_flag.contains(StatVfsMountFlags::RDONLY) || access(there, Access::WRITE_OK).is_err()
    {
        let next = format!("let the server's user write to {shown}, and run this as that user");
        report.failed(
            DISK,
            &format!("{what}: {shown} takes no writes"),
            Some(&next),
        );
        return;
    }
    let free = Free {
        bytes: state.f_bavail.saturating_mul(state.f_frsize),
        // File systems without a limit count none.
        files: (state.f_files > 0).then_some(state.f_favail),
    };
    let found = format!("{what}: {} MiB are free at {shown}", free.bytes >> 20);
    match free.verdict() {
        Verdict::Enough => report.ok(DISK, &found),
        Verdict::Low => report.warning(DISK, &found, "make room, or move it to a larger disk"),
        Verdict::TooLow => report.failed(DISK, &found, Some("make room now: writes will fail")),
        Verdict::TooFewFiles => report.failed(
            DISK,
            &format!("{found}, but hardly any file can be made there"),
            Some("remove files: the file system has no inodes left"),
        ),
    }
}

/// The folder, or the nearest one above it that exists: the server makes the rest.
fn existing(folder: &Path) -> &Path {
    folder
        .ancestors()
        .find(|folder| folder.exists())
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

#[derive(Clone, Copy)]
struct Free {
    bytes: u64,
    files: Option<u64>,
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Enough,
    Low,
    TooLow,
    TooFewFiles,
}

impl Free {
    fn verdict(self) -> Verdict {
        if self.bytes < TOO_LOW_BYTES {
            Verdict::TooLow
        } else if self.files.is_some_and(|files| files < TOO_FEW_FILES) {
            Verdict::TooFewFiles
        } else if self.bytes < LOW_BYTES {
            Verdict::Low
        } else {
            Verdict::Enough
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Free, Verdict};

    #[test]
    fn a_disk_is_judged_by_its_free_bytes_and_files() {
        for (mib, files, expected) in [
            (100, None, Verdict::TooLow),
            (255, Some(1_000_000), Verdict::TooLow),
            (256, Some(1_000_000), Verdict::Low),
            (256, Some(999), Verdict::TooFewFiles),
            (2047, None, Verdict::Low),
            (2048, None, Verdict::Enough),
            (2048, Some(10), Verdict::TooFewFiles),
        ] {
            let free = Free {
                bytes: mib << 20,
                files,
            };
            assert_eq!(free.verdict(), expected, "{mib} MiB, {files:?}");
        }
    }
}
