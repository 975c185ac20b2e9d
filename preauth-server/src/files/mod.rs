//! Private files: their creation, and the checks of existing ones.

mod guarded;
mod hashed;
mod owner;

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

pub use guarded::{
    check_authentic, check_authentic_place, check_folder, check_secret, read, read_authentic,
    read_secret,
};
pub use hashed::{Fingerprint, HashedFile, HashedReader, fingerprint, sync_folder};

const OWNER_ONLY_FILE: u32 = 0o600;
const OWNER_ONLY_DIRECTORY: u32 = 0o700;

/// Creates a file of mode 0600; fails when it exists.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(OWNER_ONLY_FILE)
        .open(path)
}

/// Creates a directory of mode 0700 with its parents, unless it exists.
pub fn create_private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(OWNER_ONLY_DIRECTORY)
        .create(path)
}

/// Writes a new file of mode 0600 whole or not at all; fails when it exists.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let part = write_part(path, content)?;
    // Unlike a rename, a link does not replace a file that another process created in the meantime.
    let linked = std::fs::hard_link(&part, path);
    // A copy that was not used is removed as well: it may be a secret.
    std::fs::remove_file(part)?;
    linked
}

/// Writes a file of mode 0600 whole or not at all; replaces an existing one.
pub fn replace_private(path: &Path, content: &[u8]) -> io::Result<()> {
    std::fs::rename(write_part(path, content)?, path)
}

/// Writes the content to a temporary name in the same folder.
fn write_part(path: &Path, content: &[u8]) -> io::Result<PathBuf> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    // The leftover of an interrupted attempt is useless.
    remove_if_there(&part)?;
    let mut file = create_private(&part)?;
    file.write_all(content)?;
    file.sync_all()?;
    Ok(part)
}

/// Removes a file; does nothing when it does not exist.
pub fn remove_if_there(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{replace_private, write_private};
    use std::io::ErrorKind;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_is_whole_private_and_replaced_only_on_purpose() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        std::fs::write(folder.path().join("secret.part"), "left over").unwrap();
        write_private(&path, b"first").unwrap();
        let again = write_private(&path, b"second").unwrap_err();
        assert_eq!(again.kind(), ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        replace_private(&path, b"third").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"third");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
