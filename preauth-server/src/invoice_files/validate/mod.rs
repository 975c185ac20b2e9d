//! Checks whether the content of a file has its declared type.

mod decoding;
mod grammar;
mod xml;

use std::io::{self, BufRead, Read};

use thiserror::Error;

use super::MediaType;

pub use xml::MAX_XML_DEPTH;

/// Maximum offset of a PDF header; mail programs and printers put their own text before it.
const PDF_HEADER_WITHIN_BYTES: u64 = 1024;
const PDF_HEADER: &[u8] = b"%PDF-";

/// Why a file does not have its declared type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ContentMismatch {
    /// `%PDF-` is not within the first 1,024 bytes.
    #[error("there is no pdf header within the first kibibyte")]
    NoPdfHeader,
    /// The encoding is unknown or contradictory, or the bytes are invalid in it.
    #[error("the bytes are not in the encoding of the document")]
    Encoding,
    /// Not XML, or not well formed.
    #[error("the document is not well-formed xml")]
    NotWellFormed,
    /// An internal subset of declarations.
    #[error("the document has an internal dtd subset")]
    InternalSubset,
    /// An entity other than the five of XML; none is ever resolved.
    #[error("the document refers to an entity that is not predefined")]
    Entity,
    /// The maximum nesting depth is exceeded.
    #[error("the document is nested too deep")]
    TooDeep,
    /// The maximum number of attributes or namespaces is exceeded.
    #[error("an element has too many attributes or namespaces")]
    TooManyAttributes,
}

/// Why checking stopped.
#[derive(Debug)]
enum Stop {
    ContentMismatch(ContentMismatch),
    /// The file could not be read, so the check is undecided.
    Unread(io::Error),
}

/// Checks a file by its content (contract, "Invoice file rules"): a PDF by its header, an XML
/// document by being well formed, without an internal DTD subset, and within bounds. References are
/// neither fetched nor expanded.
///
/// An error is a failure to read, not a result of the check.
pub fn validate(
    content: impl BufRead,
    declared: MediaType,
) -> io::Result<Result<(), ContentMismatch>> {
    let validated = match declared {
        MediaType::Pdf => check_pdf(content),
        MediaType::ApplicationXml | MediaType::TextXml => xml::validate(content),
    };
    match validated {
        Ok(()) => Ok(Ok(())),
        Err(Stop::ContentMismatch(mismatch)) => Ok(Err(mismatch)),
        Err(Stop::Unread(error)) => Err(error),
    }
}

fn check_pdf(content: impl Read) -> Result<(), Stop> {
    let mut head = Vec::new();
    content
        .take(PDF_HEADER_WITHIN_BYTES)
        .read_to_end(&mut head)
        .map_err(Stop::Unread)?;
    let mut windows = head.windows(PDF_HEADER.len());
    if windows.any(|window| window == PDF_HEADER) {
        Ok(())
    } else {
        Err(ContentMismatch::NoPdfHeader.into())
    }
}

impl From<ContentMismatch> for Stop {
    fn from(mismatch: ContentMismatch) -> Self {
        Self::ContentMismatch(mismatch)
    }
}

#[cfg(test)]
mod tests {
    use super::{ContentMismatch, MediaType, validate};

    fn pdf(content: &[u8]) -> Result<(), ContentMismatch> {
        validate(content, MediaType::Pdf).unwrap()
    }

    #[test]
    fn a_pdf_header_stands_whole_within_the_first_1024_bytes() {
        let at = |offset: usize| pdf(&[&vec![b' '; offset], &b"%PDF-1.7"[..]].concat());
        for offset in [0, 1, 1_019] {
            assert_eq!(at(offset), Ok(()), "{offset}");
        }
        for offset in [1_020, 1_023, 1_024, 5_000] {
            assert_eq!(at(offset), Err(ContentMismatch::NoPdfHeader), "{offset}");
        }
    }

    #[test]
    fn a_file_without_a_pdf_header_is_refused() {
        for content in ["", "%PDF", "%pdf-1.7", "<pdf/>"] {
            assert_eq!(pdf(content.as_bytes()), Err(ContentMismatch::NoPdfHeader));
        }
    }
}
