//! Reads files that other users must not read, or must not write; checks the opened file and its
//! folders.
//!
//! Other users are all except root and the user of this process. A file on a read-only mount of its
//! own that belongs to root is exempt: containers get their secrets that way, readable for every user
//! inside. A service manager that shows the machine's own files read-only makes no container.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Error, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::StatVfsMountFlags;
use secrecy::zeroize::Zeroizing;
use thiserror::Error;

use super::owner::command_as;

const ROOT: u32 = 0;
const GROUP_AND_OTHERS: u32 = 0o077;
const WRITE_BY_OTHERS: u32 = 0o022;
const STICKY: u32 = 0o1000;
const MODE: u32 = 0o7777;
/// Maximum size of a secret, configuration or list of certificates.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Why a file or folder is not trusted; each text names the next step.
#[derive(Debug, Error)]
enum Exposure {
    #[error("others may read or write it (mode {mode:04o}); run `{}`", command_to_close(path, *owner, *user))]
    Open {
        path: PathBuf,
        mode: u32,
        owner: u32,
        user: u32,
    },
    #[error("others may write to {what} (mode {mode:04o}); run `chmod go-w {}`", path.display())]
    Writable {
        what: EntryKind,
        path: PathBuf,
        mode: u32,
    },
    #[error(
        "{what} belongs to user {owner}, who can change it, and this process runs as user {user}; {}",
        step_for_owner(path, *owner, *user)
    )]
    Owner {
        what: EntryKind,
        path: PathBuf,
        owner: u32,
        user: u32,
    },
}

/// Root's file, once it is private, is root's alone: this process must read it, too.
fn command_to_close(path: &Path, owner: u32, user: u32) -> String {
    let shown = path.display();
    if owner == user {
        format!("chmod 600 {shown}")
    } else {
        format!("chown {user} {shown} && chmod 600 {shown}")
    }
}

/// Root takes no file over: a service would lose it.
fn step_for_owner(path: &Path, owner: u32, user: u32) -> String {
    let command = if user == ROOT {
        command_as(owner)
    } else {
        None
    };
    command.map_or_else(
        || {
            format!(
                "run `chown {user} {}`, or run this as its owner",
                path.display()
            )
        },
        |command| format!("run this as its owner: `{command}`"),
    )
}

/// The kind of thing that is not trusted.
#[derive(Clone, Copy, Debug)]
enum EntryKind {
    File,
    Folder,
}

/// The requirement for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guard {
    /// Other users may neither read nor write it.
    Secret,
    /// Other users may not write it.
    Authentic,
}

/// The relevant attributes of a file or folder.
#[derive(Clone, Copy, Debug)]
struct Facts {
    owner: u32,
    mode: u32,
    /// On a read-only mount that is not that of the system's root.
    is_mounted_for_reading: bool,
}

/// The text of a secret file, zeroed when it is dropped.
///
/// # Errors
/// When it cannot be read, or others can read or write it, or replace it.
pub fn read_secret(path: &Path) -> io::Result<Zeroizing<String>> {
    let mut file = File::open(path)?;
    check(&file, path, Guard::Secret)?;
    read(&mut file)
}

/// The text of a file that others may read.
///
/// # Errors
/// When it cannot be read, or others can write or replace it.
pub fn read_authentic(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    check(&file, path, Guard::Authentic)?;
    Ok(std::mem::take(&mut *read(&mut file)?))
}

/// Refuses an open file that others can read, write or replace.
///
/// # Errors
/// When they can.
pub fn check_secret(file: &File, path: &Path) -> io::Result<()> {
    check(file, path, Guard::Secret)
}

/// Refuses an open file that others can write or replace.
///
/// # Errors
/// When they can.
pub fn check_authentic(file: &File, path: &Path) -> io::Result<()> {
    check(file, path, Guard::Authentic)
}

/// Refuses a file that others can write or replace, and where there is none yet, a folder in which
/// they could.
///
/// # Errors
/// When they can, or it cannot be looked at.
pub fn check_authentic_place(path: &Path) -> io::Result<()> {
    match File::open(path) {
        Ok(file) => check_authentic(&file, path),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            check_folders(&[folder_of(path)], rustix::process::geteuid().as_raw())
        }
        Err(error) => Err(error),
    }
}

/// The text of an open file; no copy of it stays behind.
///
/// # Errors
/// When it cannot be read, is no text or larger than 4 MiB.
pub fn read(file: &mut File) -> io::Result<Zeroizing<String>> {
    let length = file.metadata()?.len();
    // One allocation: a growing buffer would leave copies of its content behind.
    let room = usize::try_from(length.min(MAX_FILE_BYTES)).unwrap_or(0);
    let mut text = Zeroizing::new(String::with_capacity(room.saturating_add(4096)));
    let beyond = MAX_FILE_BYTES.saturating_add(1);
    let bytes = Read::take(file, beyond).read_to_string(&mut text)?;
    if u64::try_from(bytes).is_ok_and(|bytes| bytes > MAX_FILE_BYTES) {
        return Err(Error::new(
            ErrorKind::InvalidData,
            "it is larger than 4 MiB",
        ));
    }
    Ok(text)
}

fn check(file: &File, path: &Path, guard: Guard) -> io::Result<()> {
    let metadata = file.metadata()?;
    let facts = Facts::of(&metadata, file)?;
    if facts.is_of_a_container() {
        return Ok(());
    }
    let user = rustix::process::geteuid().as_raw();
    refused(facts.exposure_of_file(path, guard, user))?;
    // A pipe has no folder.
    if !metadata.is_file() {
        return Ok(());
    }
    let real = path.canonicalize()?;
    let mut folders = vec![folder_of(path), folder_of(&real)];
    folders.dedup();
    check_folders(&folders, user)
}

/// Refuses folders in which others can replace a file.
fn check_folders(folders: &[&Path], user: u32) -> io::Result<()> {
    folders.iter().try_for_each(|folder| {
        let facts = Facts::of_folder(folder)?;
        // In a sticky folder others can add files, but neither rename nor remove this one.
        let mode = if facts.mode & STICKY == 0 {
            facts.mode
        } else {
            0
        };
        refused(Facts { mode, ..facts }.exposure(EntryKind::Folder, folder, user))
    })
}

/// Refuses a folder that others may write to, sticky or not, or that belongs to another user.
///
/// # Errors
/// When it is refused, or its attributes cannot be read.
pub fn check_folder(folder: &Path) -> io::Result<()> {
    let user = rustix::process::geteuid().as_raw();
    refused(Facts::of_folder(folder)?.exposure(EntryKind::Folder, folder, user))
}

fn refused(exposure: Option<Exposure>) -> io::Result<()> {
    let error = |exposure| Error::new(ErrorKind::PermissionDenied, exposure);
    exposure.map_or(Ok(()), |exposure| Err(error(exposure)))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

impl Facts {
    fn of(metadata: &Metadata, file: &File) -> io::Result<Self> {
        let mount = rustix::fs::fstatvfs(file)?.f_flag;
        let is_apart = std::fs::metadata("/")?.dev() != metadata.dev();
        Ok(Self {
            owner: metadata.uid(),
            mode: metadata.mode() & MODE,
            is_mounted_for_reading: is_apart && mount.contains(StatVfsMountFlags::RDONLY),
        })
    }

    fn is_of_a_container(self) -> bool {
        self.is_mounted_for_reading && self.owner == ROOT
    }

    fn of_folder(folder: &Path) -> io::Result<Self> {
        let metadata = std::fs::metadata(folder)?;
        Ok(Self {
            owner: metadata.uid(),
            mode: metadata.mode() & MODE,
            is_mounted_for_reading: false,
        })
    }

    fn exposure_of_file(self, path: &Path, guard: Guard, user: u32) -> Option<Exposure> {
        let exposure = self.exposure(EntryKind::File, path, user);
        let is_open = guard == Guard::Secret && self.mode & GROUP_AND_OTHERS != 0;
        match exposure {
            None | Some(Exposure::Writable { .. }) if is_open => Some(Exposure::Open {
                path: path.to_owned(),
                mode: self.mode,
                owner: self.owner,
                user,
            }),
            exposure => exposure,
        }
    }

    /// Why others can write it, if they can.
    fn exposure(self, what: EntryKind, path: &Path, user: u32) -> Option<Exposure> {
        let Self { owner, mode, .. } = self;
        let path = path.to_owned();
        if owner != user && owner != ROOT {
            Some(Exposure::Owner {
                what,
                path,
                owner,
                user,
            })
        } else if mode & WRITE_BY_OTHERS != 0 {
            Some(Exposure::Writable { what, path, mode })
        } else {
            None
        }
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "it",
            Self::Folder => "its folder",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const US: u32 = 1000;

    fn facts(owner: u32, mode: u32) -> Facts {
        Facts {
            owner,
            mode,
            is_mounted_for_reading: false,
        }
    }

    fn refusal(facts: Facts, guard: Guard) -> Option<String> {
        let exposure = facts.exposure_of_file(Path::new("p"), guard, US);
        exposure.map(|it| it.to_string())
    }

    #[test]
    fn a_secret_is_for_its_owner_and_root_alone() {
        for (owner, mode) in [(US, 0o600), (US, 0o400), (ROOT, 0o600)] {
            assert_eq!(refusal(facts(owner, mode), Guard::Secret), None);
        }
        for mode in [0o640, 0o604, 0o620, 0o602, 0o644, 0o666, 0o601] {
            let said = refusal(facts(US, mode), Guard::Secret).unwrap();
            assert!(said.contains("chmod 600 p"), "{mode:o}: {said}");
        }
        let said = refusal(facts(ROOT, 0o644), Guard::Secret).unwrap();
        assert!(said.contains("`chown 1000 p && chmod 600 p`"), "{said}");
        let said = refusal(facts(US + 1, 0o600), Guard::Secret).unwrap();
        assert!(said.contains("chown 1000 p"), "{said}");
    }

    #[test]
    fn an_authentic_file_may_be_read_by_everybody() {
        assert_eq!(refusal(facts(US, 0o644), Guard::Authentic), None);
        for mode in [0o664, 0o646] {
            assert!(refusal(facts(US, mode), Guard::Authentic).is_some());
        }
    }

    #[test]
    fn only_roots_files_on_a_read_only_mount_of_their_own_are_exempt() {
        let mounted = |owner| Facts {
            is_mounted_for_reading: true,
            ..facts(owner, 0o444)
        };
        assert!(mounted(ROOT).is_of_a_container());
        assert!(!mounted(US).is_of_a_container());
        assert!(!facts(ROOT, 0o444).is_of_a_container());
    }

    #[test]
    fn a_file_is_as_safe_as_its_folders() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let path = inner.join("secret");
        super::super::write_private(&path, b"geheim").unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let open = |folder: &Path, mode| {
            std::fs::set_permissions(folder, PermissionsExt::from_mode(mode)).unwrap();
        };
        for (mode, is_refused) in [
            (0o755, false),
            (0o777, true),
            (0o775, true),
            (0o1777, false),
        ] {
            open(&inner, mode);
            for path in [&path, &link] {
                assert_eq!(read_secret(path).is_err(), is_refused, "{mode:o}");
            }
        }
        open(&inner, 0o700);
        open(folder.path(), 0o777);
        assert!(read_secret(&path).is_ok());
        assert!(read_secret(&link).is_err(), "the link can be replaced");
    }
}
