//! For any file: no panic, and one result however the file is split. After an XML document a comment is
//! accepted, and anything else refused.
//!
//! The input is the file. It is checked as PDF and as XML.

#![no_main]

use std::io::{BufReader, Read};

use libfuzzer_sys::fuzz_target;
use preauth_server::invoice_files::{ContentMismatch, MediaType, validate};

/// The first bytes of a document in UTF-16.
const UTF_16_MARKS: [&[u8]; 2] = [b"\xFE\xFF", b"\xFF\xFE"];

fuzz_target!(|input: &[u8]| {
    let is_pdf = checked(input, MediaType::Pdf).is_ok();
    let head = input.get(..1024).unwrap_or(input);
    assert_eq!(is_pdf, head.windows(5).any(|window| window == b"%PDF-"));
    let xml = checked(input, MediaType::TextXml);
    assert_eq!(xml, checked(input, MediaType::ApplicationXml));
    if xml.is_ok() && !UTF_16_MARKS.iter().any(|mark| input.starts_with(mark)) {
        content_after_the_document_is_refused(input);
    }
});

/// The result of the check. Fed byte by byte, the file is accepted or refused alike; of several defects another
/// may be found first.
fn checked(content: &[u8], declared: MediaType) -> Result<(), ContentMismatch> {
    let validated = validate(content, declared).expect("memory can be read");
    for capacity in [1, 5] {
        let slowly = BufReader::with_capacity(capacity, content.take(u64::MAX));
        let again = validate(slowly, declared).expect("memory can be read");
        let both = (validated, again);
        assert_eq!(
            validated.is_ok(),
            again.is_ok(),
            "{both:?}, {capacity} at a time"
        );
    }
    validated
}

fn content_after_the_document_is_refused(document: &[u8]) {
    let followed_by = |text: &[u8]| {
        let longer = [document, text].concat();
        validate(longer.as_slice(), MediaType::TextXml).expect("memory can be read")
    };
    assert_eq!(followed_by(b"<!-- -->\n"), Ok(()));
    for text in [&b"<"[..], b"<a/>", b"x", b"&amp;", b"<!DOCTYPE a>", b"]]>"] {
        assert!(followed_by(text).is_err());
    }
}
