//! A cursor in a file.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::cursor_store::{CursorResult, CursorStore};

/// Maximum size of the file; a cursor has 55 characters today.
const MAX_BYTES: u64 = 4_096;

/// A cursor in a file of its own, which is replaced as a whole and synced to disk: after a crash or a power
/// failure it has the cursor that was saved last, or the one before.
///
/// A missing file is a reader that begins at the oldest event that is kept. The folder must exist. While a
/// cursor is saved, a file with the ending `.new` stands beside it.
#[derive(Clone, Debug)]
pub struct FileCursor {
    path: PathBuf,
}

impl FileCursor {
    /// In the file at `path`, which need not exist.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }
}

impl CursorStore for FileCursor {
    fn load(&self) -> CursorResult<'_, Option<String>> {
        let path = self.path.clone();
        Box::pin(async move { Ok(tokio::task::spawn_blocking(move || load(&path)).await??) })
    }

    fn save(&self, cursor: String) -> CursorResult<'_, ()> {
        let path = self.path.clone();
        Box::pin(
            async move { Ok(tokio::task::spawn_blocking(move || save(&path, &cursor)).await??) },
        )
    }
}

fn load(path: &Path) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text)?;
    let cursor = text.trim();
    if cursor.is_empty() {
        // Not what this type writes; to begin again would handle everything twice.
        let error = format!("{} is empty", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, error));
    }
    Ok(Some(cursor.to_owned()))
}

/// The new file is complete on disk before it takes the name, and the name is on disk before this returns.
fn save(path: &Path, cursor: &str) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let mut file = File::create(&beside)?;
    file.write_all(cursor.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    drop(file);
    fs::rename(&beside, path)?;
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    sync_folder(folder.unwrap_or(Path::new(".")))
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere a folder cannot be opened as a file.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_cursor_is_what_was_saved_last_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("erp.cursor");
        let cursor = FileCursor::new(&path);
        assert_eq!(cursor.load().await.unwrap(), None);
        for text in ["first", "second"] {
            cursor.save(text.to_owned()).await.unwrap();
            assert_eq!(cursor.load().await.unwrap().as_deref(), Some(text));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        // What a crash leaves behind while the next one is written.
        fs::write(folder.path().join("erp.cursor.new"), "hal").unwrap();
        assert_eq!(cursor.load().await.unwrap().as_deref(), Some("second"));
    }

    #[tokio::test]
    async fn a_file_that_is_empty_or_cannot_be_written_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("erp.cursor");
        fs::write(&path, "\n").unwrap();
        assert!(FileCursor::new(&path).load().await.is_err());
        let nowhere = FileCursor::new(folder.path().join("no/such/folder"));
        assert!(nowhere.save("x".to_owned()).await.is_err());
    }
}
