//! Decodes a document into UTF-8, from any declared encoding.

use std::io::{BufRead, Cursor, Read};

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use quick_xml::encoding::DecodingReader;

use super::{ContentMismatch, Stop};

/// Maximum length of an XML declaration in which the encoding is searched.
const DECLARATION_WITHIN_BYTES: u64 = 512;

const BYTE_ORDER_MARKS: [&[u8]; 3] = [b"\xEF\xBB\xBF", b"\xFE\xFF", b"\xFF\xFE"];

/// Decodes a document into UTF-8. Its encoding is that of its byte order mark, or else the declared
/// one, or else UTF-8; UTF-16 needs the mark. Invalid bytes are an `InvalidData` error of reading.
pub(super) fn decoded(content: impl BufRead) -> Result<DecodingReader<impl BufRead>, Stop> {
    let mut content = content;
    let mut head = Vec::new();
    content
        .by_ref()
        .take(DECLARATION_WITHIN_BYTES)
        .read_to_end(&mut head)
        .map_err(Stop::Unread)?;
    let has_mark = BYTE_ORDER_MARKS.iter().any(|mark| head.starts_with(mark));
    let encoding = if has_mark { None } else { declared(&head)? };
    let mut reader = DecodingReader::new(Cursor::new(head).chain(content));
    // The reader itself recognises and applies a mark.
    if let Some(encoding) = encoding {
        reader.set_encoding(encoding);
    }
    Ok(reader)
}

/// The encoding that a document without byte order mark declares; `None` means UTF-8.
fn declared(head: &[u8]) -> Result<Option<&'static Encoding>, Stop> {
    // The reader would guess UTF-16 from the zeros between letters, which XML does not allow.
    if head.iter().take(4).any(|byte| *byte == 0) {
        return Err(ContentMismatch::Encoding.into());
    }
    let Some(label) = label(head) else {
        return Ok(None);
    };
    let encoding = Encoding::for_label(label).ok_or(ContentMismatch::Encoding)?;
    if encoding == UTF_16LE || encoding == UTF_16BE || !encoding.is_ascii_compatible() {
        return Err(ContentMismatch::Encoding.into());
    }
    Ok(Some(encoding))
}

/// The quoted text after `encoding` in the XML declaration, if there is one; its form is checked
/// when the document is read.
fn label(head: &[u8]) -> Option<&[u8]> {
    let declaration = head.strip_prefix(b"<?xml")?;
    let end = position(declaration, b"?>")?;
    let declaration = declaration.get(..end)?;
    let name = position(declaration, b"encoding")?;
    let after = declaration.get(name..)?.strip_prefix(b"encoding")?;
    let value = after.trim_ascii_start().strip_prefix(b"=")?;
    let (quote, value) = value.trim_ascii_start().split_first()?;
    let end = value.iter().position(|byte| byte == quote)?;
    value.get(..end)
}

fn position(bytes: &[u8], sought: &[u8]) -> Option<usize> {
    bytes
        .windows(sought.len())
        .position(|window| window == sought)
}
