//! Multipart bodies: read piece by piece, within bounds, and never guessed at.
//!
//! [`read`] knows the parts of a create (contract, "Multipart variant") and nothing of HTTP: what it
//! reads is any stream of bytes, and where the file goes is for its caller to say.

mod boundary;
mod disposition;
mod flaw;
mod parts;
mod within;

use std::io;

use async_trait::async_trait;
use bytes::Bytes;

pub use boundary::Boundary;
pub use flaw::FormFlaw;
pub use parts::read;

/// A whole body may have so many bytes: room for the file, the texts, and what is around them.
pub const BODY_LIMIT_BYTES: u64 = crate::invoice_files::FILE_LIMIT_BYTES + 512 * 1024;
/// All text parts together.
const TEXT_LIMIT_BYTES: usize = 256 * 1024;
const PART_LIMIT: usize = 16;
/// The headers of one part.
const PART_HEAD_LIMIT_BYTES: u64 = 8 * 1024;
/// What stands before the first boundary; nobody sends anything there.
const PREAMBLE_LIMIT_BYTES: u64 = 8 * 1024;
/// Blanks behind a boundary.
const PADDING_LIMIT_BYTES: u64 = 1024;

/// The parts of a create. A part that was not sent is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// `supplier`, which should be JSON.
    pub supplier: Option<Vec<u8>>,
    /// `invoice`, which should be JSON.
    pub invoice: Option<Vec<u8>>,
    /// `externalReference`, which should be text.
    pub external_reference: Option<Vec<u8>>,
    /// `invoiceFile`; its content went to the [`FileSink`].
    pub file: Option<FilePart>,
}

/// What the file's part says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// The file's name, of any length but not empty; text, never a
    /// path.
    pub name: String,
    /// Its `Content-Type` as sent, if any.
    pub declared_type: Option<String>,
}

/// Where the bytes of a file go while they come in.
#[async_trait]
pub trait FileSink: Send {
    /// A file begins; there is one at most.
    async fn begin(&mut self, file: &FilePart) -> io::Result<()>;

    /// More of it.
    async fn write(&mut self, bytes: Bytes) -> io::Result<()>;
}

/// Keeps the file in memory, where the limits of a body bound it.
#[async_trait]
impl FileSink for Vec<u8> {
    async fn begin(&mut self, _: &FilePart) -> io::Result<()> {
        Ok(())
    }

    async fn write(&mut self, bytes: Bytes) -> io::Result<()> {
        self.extend_from_slice(&bytes);
        Ok(())
    }
}
