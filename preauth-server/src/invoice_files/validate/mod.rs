//! Whether a file is what it says it is, by its content.

mod decoding;
mod grammar;
mod xml;

use std::io::{self, BufRead, Read};

use thiserror::Error;

use super::MediaType;

pub use xml::XML_DEPTH_LIMIT;

/// A PDF begins within so many bytes; mail programs and printers put their own before it.
const PDF_HEADER_WITHIN_BYTES: u64 = 1024;
const PDF_HEADER: &[u8] = b"%PDF-";

/// Why a file is not what it was declared to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unlike {
    /// `%PDF-` does not stand within the first 1,024 bytes.
    #[error("there is no pdf header within the first kibibyte")]
    NoPdfHeader,
    /// The encoding is unknown, contradicts itself, or the bytes are not in it.
    #[error("the bytes are not in the encoding of the document")]
    Encoding,
    /// It is no XML, or not well formed.
    #[error("the document is not well-formed xml")]
    NotWellFormed,
    /// It brings declarations of its own.
    #[error("the document has an internal dtd subset")]
    InternalSubset,
    /// An entity that XML does not know by itself; none is ever looked up.
    #[error("the document refers to an entity that is not predefined")]
    Entity,
    /// Elements within elements within elements.
    #[error("the document is nested too deep")]
    TooDeep,
    /// More attributes or namespaces than any invoice has.
    #[error("an element has too many attributes or namespaces")]
    TooManyAttributes,
}

/// Why checking stopped.
#[derive(Debug)]
enum Stop {
    Unlike(Unlike),
    /// The file could not be read, which says nothing about it.
    Unread(io::Error),
}

/// Checks a file by its content (contract, "Invoice file rules"): a PDF by its header, an XML document
/// by being well formed, without an internal DTD subset, and within bounds. Nothing it refers to is
/// looked up, and nothing expanded.
///
/// An error is one of reading, and no check.
pub fn validate(content: impl BufRead, declared: MediaType) -> io::Result<Result<(), Unlike>> {
    let validated = match declared {
        MediaType::Pdf => check_pdf(content),
        MediaType::ApplicationXml | MediaType::TextXml => xml::validate(content),
    };
    match validated {
        Ok(()) => Ok(Ok(())),
        Err(Stop::Unlike(unlike)) => Ok(Err(unlike)),
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
        Err(Unlike::NoPdfHeader.into())
    }
}

impl From<Unlike> for Stop {
    fn from(unlike: Unlike) -> Self {
        Self::Unlike(unlike)
    }
}

#[cfg(test)]
mod tests {
    use super::{MediaType, Unlike, validate};

    fn pdf(content: &[u8]) -> Result<(), Unlike> {
        validate(content, MediaType::Pdf).unwrap()
    }

    #[test]
    fn a_pdf_header_stands_whole_within_the_first_1024_bytes() {
        let at = |offset: usize| pdf(&[&vec![b' '; offset], &b"%PDF-1.7"[..]].concat());
        for offset in [0, 1, 1_019] {
            assert_eq!(at(offset), Ok(()), "{offset}");
        }
        for offset in [1_020, 1_023, 1_024, 5_000] {
            assert_eq!(at(offset), Err(Unlike::NoPdfHeader), "{offset}");
        }
    }

    #[test]
    fn what_has_no_pdf_header_is_none() {
        for content in ["", "%PDF", "%pdf-1.7", "<pdf/>"] {
            assert_eq!(pdf(content.as_bytes()), Err(Unlike::NoPdfHeader));
        }
    }
}
