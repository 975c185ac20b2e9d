//! Reads multipart bodies piece by piece and within bounds; ambiguous ones are refused.
//!
//! [`read`] knows the parts of a create (contract, "Multipart variant") and nothing of HTTP: it
//! reads any stream of bytes, and its caller decides where the file goes.

mod boundary;
mod disposition;
mod flaw;
mod limited_body;
mod part_heads;
mod parts;

use std::io;

use async_trait::async_trait;
use bytes::Bytes;

pub use boundary::Boundary;
pub use flaw::FormFlaw;
pub use parts::read;

/// Maximum size of a whole body: the file, the texts, and the framing.
pub const BODY_LIMIT_BYTES: u64 = crate::invoice_files::FILE_LIMIT_BYTES + 512 * 1024;
/// Maximum size of all text parts together.
const TEXT_LIMIT_BYTES: usize = 256 * 1024;
const PART_LIMIT: usize = 16;
/// Maximum size of the headers of one part.
const PART_HEAD_LIMIT_BYTES: u64 = 8 * 1024;
/// Maximum size of the text before the first boundary; clients send none.
const PREAMBLE_LIMIT_BYTES: u64 = 8 * 1024;
/// Maximum number of blanks after a boundary.
const PADDING_LIMIT_BYTES: u64 = 1024;

/// The parts of a create; an absent part is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// `supplier`, expected to be JSON.
    pub supplier: Option<Vec<u8>>,
    /// `invoice`, expected to be JSON.
    pub invoice: Option<Vec<u8>>,
    /// `externalReference`, expected to be text.
    pub external_reference: Option<Vec<u8>>,
    /// `invoiceFile`; its content was written to the [`FileSink`].
    pub file: Option<FilePart>,
}

/// The headers of the file's part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// The file's name, of any length but not empty; text, never a
    /// path.
    pub name: String,
    /// Its `Content-Type`, if any, not checked.
    pub declared_type: Option<String>,
}

/// Receives the bytes of a file as they arrive.
#[async_trait]
pub trait FileSink: Send {
    /// A file begins; a form has one at most.
    async fn begin(&mut self, file: &FilePart) -> io::Result<()>;

    /// The next bytes of the file.
    async fn write(&mut self, bytes: Bytes) -> io::Result<()>;
}

/// Keeps the file in memory; the body limit bounds its size.
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
