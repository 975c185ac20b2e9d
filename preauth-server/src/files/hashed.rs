//! Files whose length and SHA-256 are taken while they are written or read, piece by piece.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::create_private;

/// Bytes read or written at once.
const PIECE_BYTES: usize = 256 * 1024;

/// The length of a file and the SHA-256 of its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256 of the content, in hexadecimal digits.
    pub sha256: String,
}

/// A new private file that is being written.
#[derive(Debug)]
pub struct HashedFile {
    file: BufWriter<File>,
    hash: Sha256,
    bytes: u64,
}

impl HashedFile {
    /// Creates the file; fails when it exists.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: BufWriter::with_capacity(PIECE_BYTES, create_private(path)?),
            hash: Sha256::new(),
            bytes: 0,
        })
    }

    /// Syncs the file to disk.
    pub fn finish(mut self) -> io::Result<Fingerprint> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        Ok(Fingerprint {
            bytes: self.bytes,
            sha256: hex::encode(self.hash.finalize()),
        })
    }
}

impl Write for HashedFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.file.write_all(buffer)?;
        self.hash.update(buffer);
        let written = u64::try_from(buffer.len()).map_err(io::Error::other)?;
        self.bytes = self.bytes.saturating_add(written);
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A file that is read from its beginning to its end.
#[derive(Debug)]
pub struct HashedReader {
    file: File,
    hash: Sha256,
    bytes: u64,
}

impl HashedReader {
    /// Opens the file.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: File::open(path)?,
            hash: Sha256::new(),
            bytes: 0,
        })
    }

    /// The next piece; `None` at the end.
    pub fn next_piece(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        let limit = u64::try_from(PIECE_BYTES).map_err(io::Error::other)?;
        (&mut self.file).take(limit).read_to_end(&mut piece)?;
        if piece.is_empty() {
            return Ok(None);
        }
        self.hash.update(&piece);
        let read = u64::try_from(piece.len()).map_err(io::Error::other)?;
        self.bytes = self.bytes.saturating_add(read);
        Ok(Some(piece))
    }

    /// The fingerprint of what was read.
    #[must_use]
    pub fn finish(self) -> Fingerprint {
        Fingerprint {
            bytes: self.bytes,
            sha256: hex::encode(self.hash.finalize()),
        }
    }
}

/// Reads a whole file for its fingerprint.
pub fn fingerprint(path: &Path) -> io::Result<Fingerprint> {
    let mut reader = HashedReader::open(path)?;
    while reader.next_piece()?.is_some() {}
    Ok(reader.finish())
}

/// Syncs a folder, so that the names in it survive a power cut.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::{HashedFile, fingerprint};
    use std::io::Write;

    #[test]
    fn what_was_written_is_what_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("part");
        let mut file = HashedFile::create(&path).unwrap();
        for piece in [&b"a"[..], b"bc"] {
            file.write_all(piece).unwrap();
        }
        let written = file.finish().unwrap();
        assert_eq!(written.bytes, 3);
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(written.sha256, expected);
        assert_eq!(fingerprint(&path).unwrap(), written);
        assert!(HashedFile::create(&path).is_err());
    }
}
