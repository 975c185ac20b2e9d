//! Copies the invoice files that a copied database names, a few at a time.

use std::fs::File;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};
use sha2::{Digest, Sha256};

use crate::clock::{Clock, SystemClock};
use crate::files::{self, HashedFile};
use crate::invoice_files::{ContentHash, FilesError, Place, Spooled};
use crate::store::BackupError;
use crate::store::backup::FILES_LIST;

use super::{BackupFolder, Error, FileMode, FilesHeld};

/// Files that are copied at the same time: storage over a network takes long to begin.
const AT_ONCE: usize = 8;
/// The folder of the files in a backup.
const FOLDER: &str = "invoice-files";
/// Maximum number of missing files that a manifest names.
const MAX_MISSING_NAMED: usize = 10_000;

/// A file that the database names.
#[derive(Clone, Copy, Debug)]
struct Named {
    hash: ContentHash,
    size: u64,
}

/// Copies the files from their place, each of which must have the content that its name says.
pub(super) async fn copy_out(
    place: &str,
    folder: &Path,
    mode: FileMode,
) -> Result<FilesHeld, Error> {
    let mut held = FilesHeld {
        are_included: mode != FileMode::Listed,
        ..FilesHeld::default()
    };
    let mut source = None;
    let mut missing = 0_usize;
    let mut list = List::open(folder)?;
    loop {
        let group = list.group()?;
        if group.is_empty() {
            break;
        }
        for named in &group {
            held.named = held.named.saturating_add(1);
            held.bytes = held.bytes.saturating_add(named.size);
        }
        if mode == FileMode::Listed {
            continue;
        }
        let source = match &source {
            Some(source) => source,
            None => source.insert(Place::open(place)?),
        };
        let copies = group.into_iter().map(|named| copy(source, folder, named));
        let copies = stream::iter(copies).buffer_unordered(AT_ONCE);
        for lost in copies.try_collect::<Vec<_>>().await?.into_iter().flatten() {
            missing = missing.saturating_add(1);
            if held.missing.len() < MAX_MISSING_NAMED {
                held.missing.push(lost.to_string());
            }
        }
    }
    if let (Some(first), FileMode::All) = (held.missing.first(), mode) {
        return Err(Error::MissingFiles {
            count: missing,
            first: first.clone(),
            place: place.to_owned(),
        });
    }
    Ok(held)
}

/// Returns the file if it is missing or damaged.
async fn copy(source: &Place, folder: &Path, named: Named) -> Result<Option<ContentHash>, Error> {
    let path = path_of(folder, named.hash);
    let mut content = match source.get(named.hash, named.size).await {
        Err(FilesError::Lost(hash)) => return Ok(Some(hash)),
        content => content.map_err(Error::InvoiceFile)?,
    };
    let parent = path.parent().unwrap_or(folder);
    files::create_private_directory(parent).map_err(Error::file(parent))?;
    let mut file = HashedFile::create(&path).map_err(Error::file(&path))?;
    let failed = |error| Error::InvoiceFile(FilesError::Place(error));
    while let Some(piece) = content.stream.try_next().await.map_err(failed)? {
        file.write_all(&piece).map_err(Error::file(&path))?;
    }
    let written = file.finish().map_err(Error::file(&path))?;
    if written.sha256 == named.hash.to_string() {
        return Ok(None);
    }
    files::remove_if_there(&path).map_err(Error::file(&path))?;
    Ok(Some(named.hash))
}

/// Stores the files in their place; one that is there already stays, unless it is damaged.
pub(super) async fn copy_in(
    backup: &BackupFolder,
    place: &str,
    mode: FileMode,
) -> Result<(), Error> {
    let held = &backup.manifest.invoice_files;
    if held.named == 0 {
        return Ok(());
    }
    let target = Place::open(place)?;
    let began_at = SystemClock.now();
    let from_backup = held.are_included && mode != FileMode::Listed;
    let mut list = List::open(backup.path())?;
    let mut missing: Vec<ContentHash> = Vec::new();
    loop {
        let group = list.group()?;
        if group.is_empty() {
            break;
        }
        let known = |named: &Named| held.missing.contains(&named.hash.to_string());
        let group = group.into_iter().filter(|named| !known(named));
        if from_backup {
            let copies = group.map(|named| put(backup, &target, named));
            stream::iter(copies)
                .buffer_unordered(AT_ONCE)
                .try_collect::<Vec<()>>()
                .await?;
        } else {
            for named in group {
                match target.get(named.hash, named.size).await {
                    Ok(_) => {}
                    Err(FilesError::Lost(hash)) => missing.push(hash),
                    Err(error) => return Err(Error::InvoiceFile(error)),
                }
            }
        }
    }
    if from_backup {
        // An earlier restore may have been killed while it wrote a file, which no janitor knows of.
        let cleaned = target.remove_unfinished_before(began_at).await;
        cleaned.map_err(Error::InvoiceFile)?;
    }
    match missing.first() {
        Some(first) if mode != FileMode::Present => Err(Error::MissingFiles {
            count: missing.len(),
            first: first.to_string(),
            place: place.to_owned(),
        }),
        _ => Ok(()),
    }
}

async fn put(backup: &BackupFolder, target: &Place, named: Named) -> Result<(), Error> {
    let file = Arc::new(checked(backup.path(), named)?);
    if is_damaged(target, named).await? {
        let removed = target.remove(named.hash).await;
        removed.map_err(Error::InvoiceFile)?;
    }
    target.put(&file).await.map_err(Error::InvoiceFile)
}

/// Whether the place has such a file of the right length with other content, which would count as stored.
async fn is_damaged(place: &Place, named: Named) -> Result<bool, Error> {
    let mut content = match place.get(named.hash, named.size).await {
        Err(FilesError::Lost(_)) => return Ok(false),
        content => content.map_err(Error::InvoiceFile)?,
    };
    let failed = |error| Error::InvoiceFile(FilesError::Place(error));
    let mut hash = Sha256::new();
    while let Some(piece) = content.stream.try_next().await.map_err(failed)? {
        hash.update(&piece);
    }
    Ok(hex::encode(hash.finalize()) != named.hash.to_string())
}

/// Checks the files in the backup.
pub(super) async fn check(backup: &BackupFolder) -> Result<(), Error> {
    let held = &backup.manifest.invoice_files;
    let mut list = List::open(backup.path())?;
    let mut named = 0_u64;
    loop {
        let group = list.group()?;
        if group.is_empty() {
            break;
        }
        for file in group {
            named = named.saturating_add(1);
            if held.are_included && !held.missing.contains(&file.hash.to_string()) {
                checked(backup.path(), file)?;
            }
        }
        tokio::task::yield_now().await;
    }
    if named == held.named {
        return Ok(());
    }
    let what = format!("it lists {named} invoice files and not {}", held.named);
    Err(BackupError::Unreadable { what }.into())
}

fn checked(folder: &Path, named: Named) -> Result<Spooled, Error> {
    let path = path_of(folder, named.hash);
    let file = Spooled::of_file(&path).map_err(Error::file(&path))?;
    if (file.hash(), file.size()) == (named.hash, named.size) {
        return Ok(file);
    }
    let what = format!("invoice file {} is damaged", named.hash);
    Err(BackupError::Unreadable { what }.into())
}

fn path_of(folder: &Path, hash: ContentHash) -> PathBuf {
    let name = hash.to_string();
    let first = name.get(..2).unwrap_or_default();
    folder.join(FOLDER).join(first).join(&name)
}

/// The list of files, of which only a part is in memory.
struct List {
    lines: Lines<BufReader<File>>,
    path: PathBuf,
}

impl List {
    fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(FILES_LIST);
        let file = File::open(&path).map_err(Error::file(&path))?;
        let lines = BufReader::new(file).lines();
        Ok(Self { lines, path })
    }

    /// The next files; none at the end.
    fn group(&mut self) -> Result<Vec<Named>, Error> {
        let mut group = Vec::new();
        for line in self.lines.by_ref().take(AT_ONCE.saturating_mul(16)) {
            let line = line.map_err(Error::file(&self.path))?;
            group.push(parsed(&line)?);
        }
        Ok(group)
    }
}

fn parsed(line: &str) -> Result<Named, Error> {
    let named = line.split_once(' ').and_then(|(hash, size)| {
        let mut bytes = [0; 32];
        hex::decode_to_slice(hash, &mut bytes).ok()?;
        Some(Named {
            hash: ContentHash::from_bytes(bytes),
            size: size.parse().ok()?,
        })
    });
    named.ok_or_else(|| {
        let what = format!("{FILES_LIST} has a line that names no file");
        BackupError::Unreadable { what }.into()
    })
}
