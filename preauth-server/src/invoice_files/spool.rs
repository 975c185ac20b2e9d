//! A file during its upload: on the disk, without a name.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::files::HashedReader;

use super::{ContentHash, blocking};

/// Bytes collected before each write to the disk.
const CHUNK_BYTES: usize = 128 * 1024;

/// A file that is being written and hashed; dropping it removes the file.
#[derive(Debug)]
pub struct Spool {
    /// Taken while a chunk is written; lost when that failed.
    writer: Option<Writer>,
    chunk: Vec<u8>,
    size: u64,
}

#[derive(Debug)]
struct Writer {
    file: File,
    hash: Sha256,
}

/// A complete upload.
#[derive(Debug)]
pub struct Spooled {
    file: File,
    size: u64,
    hash: ContentHash,
}

impl Spool {
    pub(super) async fn open(folder: PathBuf) -> io::Result<Self> {
        let file = blocking(move || tempfile::tempfile_in(folder)).await?;
        Ok(Self {
            writer: Some(Writer {
                file,
                hash: Sha256::new(),
            }),
            chunk: Vec::new(),
            size: 0,
        })
    }

    /// Adds the next bytes.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.chunk.extend_from_slice(bytes);
        if self.chunk.len() < CHUNK_BYTES {
            return Ok(());
        }
        self.flush().await
    }

    /// Completes the upload.
    pub async fn finish(mut self) -> io::Result<Spooled> {
        self.flush().await?;
        let Writer { file, hash } = self.writer.ok_or_else(lost)?;
        Ok(Spooled {
            file,
            size: self.size,
            hash: ContentHash::from_bytes(hash.finalize().into()),
        })
    }

    async fn flush(&mut self) -> io::Result<()> {
        let mut writer = self.writer.take().ok_or_else(lost)?;
        let mut chunk = std::mem::take(&mut self.chunk);
        let written = u64::try_from(chunk.len()).map_err(io::Error::other)?;
        let (writer, chunk) = blocking(move || {
            writer.file.write_all(&chunk)?;
            writer.hash.update(&chunk);
            chunk.clear();
            Ok((writer, chunk))
        })
        .await?;
        self.size = self.size.saturating_add(written);
        (self.writer, self.chunk) = (Some(writer), chunk);
        Ok(())
    }
}

impl Spooled {
    /// A file that has a name, and keeps it.
    pub(crate) fn of_file(path: &Path) -> io::Result<Self> {
        let mut reader = HashedReader::open(path)?;
        while reader.next_piece()?.is_some() {}
        let mut hash = [0; 32];
        let read = reader.finish();
        hex::decode_to_slice(&read.sha256, &mut hash).map_err(io::Error::other)?;
        Ok(Self {
            file: File::open(path)?,
            size: read.bytes,
            hash: ContentHash::from_bytes(hash),
        })
    }

    /// Length in bytes.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// SHA-256 of the content.
    #[must_use]
    pub const fn hash(&self) -> ContentHash {
        self.hash
    }

    /// Reads it from its beginning; several readers are possible.
    #[must_use]
    pub fn reader(&self) -> impl io::BufRead + use<'_> {
        BufReader::with_capacity(CHUNK_BYTES, self.from(0))
    }

    /// At most `limit` bytes from `offset`; fewer only at the end.
    pub(super) fn piece(&self, offset: u64, limit: u64) -> io::Result<Vec<u8>> {
        let left = self.size.saturating_sub(offset).min(limit);
        // As long as it will be: one that grows leaves as much memory behind again.
        let mut bytes = Vec::with_capacity(usize::try_from(left).map_err(io::Error::other)?);
        self.from(offset).take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    const fn from(&self, offset: u64) -> Positioned<'_> {
        Positioned {
            file: &self.file,
            offset,
        }
    }
}

/// A position in a file that belongs to this reader.
struct Positioned<'a> {
    file: &'a File,
    offset: u64,
}

impl Read for Positioned<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.offset)?;
        let moved = u64::try_from(read).map_err(io::Error::other)?;
        self.offset = self.offset.saturating_add(moved);
        Ok(read)
    }
}

fn lost() -> io::Error {
    io::Error::other("an earlier part of the upload was not written")
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::Spool;

    #[tokio::test]
    async fn a_file_written_in_pieces_is_read_whole_and_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let content: Vec<u8> = (0..300_000_u32).map(|n| n.to_le_bytes()[1]).collect();
        let mut spool = Spool::open(folder.path().to_owned()).await.unwrap();
        for piece in content.chunks(7_777) {
            spool.write(piece).await.unwrap();
        }
        let spooled = spool.finish().await.unwrap();
        assert_eq!(spooled.size(), 300_000);
        let mut read = Vec::new();
        spooled.reader().read_to_end(&mut read).unwrap();
        assert_eq!(read, content);
        assert_eq!(spooled.piece(299_990, 100).unwrap(), content[299_990..]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn the_hash_is_that_of_the_content() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::open(folder.path().to_owned()).await.unwrap();
        spool.write(b"a").await.unwrap();
        spool.write(b"bc").await.unwrap();
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let spooled = spool.finish().await.unwrap();
        assert_eq!(spooled.hash().to_string(), expected);
    }
}
