//! Checks the heads of the parts, which the library parses less strictly than other parsers: of a
//! repeated header it returns the last, and a line may end with a line feed alone.
//!
//! Every line of an accepted head ends with CRLF, so the library finds the same lines and the same end
//! of the head.

use std::io::BufRead;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;

use super::PART_HEAD_LIMIT_BYTES;

/// The number of the first part whose head is refused; the first part of a body is 0.
pub(super) type Refused = OnceLock<usize>;

/// A body whose heads are checked as it passes.
#[derive(Debug)]
pub(super) struct PartHeads<'a, S> {
    body: S,
    scan: Scan,
    refused: &'a Refused,
}

#[derive(Debug)]
struct Scan {
    /// `--` and the boundary.
    delimiter: Vec<u8>,
    place: Place,
    /// The beginning of the current line.
    line: Vec<u8>,
    /// The last byte, if it was of this line.
    last: Option<u8>,
    /// Whether the previous line ended with CRLF; true at the beginning of the body.
    is_after_crlf: bool,
    /// The number of the part whose head is next.
    part: usize,
}

/// The part of the body that the current line belongs to.
#[derive(Debug)]
enum Place {
    /// The text before the first part, or a part's content.
    Content,
    /// A head, with the names of its `Content-*` headers in lower case.
    Head { lines: usize, names: Vec<Vec<u8>> },
    /// The text after the last part, or after a refused head.
    End,
}

/// The head of the part that is next is refused.
#[derive(Debug)]
struct Flawed;

impl<'a, S> PartHeads<'a, S> {
    pub(super) fn new(body: S, boundary: &str, refused: &'a Refused) -> Self {
        let scan = Scan {
            delimiter: format!("--{boundary}").into_bytes(),
            place: Place::Content,
            line: Vec::new(),
            last: None,
            is_after_crlf: true,
            part: 0,
        };
        Self {
            body,
            scan,
            refused,
        }
    }
}

impl<S, E> Stream for PartHeads<'_, S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
{
    type Item = Result<Bytes, E>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = Pin::new(&mut self.body).poll_next(context);
        if let Poll::Ready(Some(Ok(bytes))) = &next
            && self.scan.read(bytes).is_err()
        {
            self.scan.place = Place::End;
            // Nothing is read after the first refused head.
            let _ = self.refused.set(self.scan.part);
        }
        next
    }
}

impl Scan {
    fn read(&mut self, mut bytes: &[u8]) -> Result<(), Flawed> {
        while !matches!(self.place, Place::End)
            && let Some((line, rest)) = split_line(bytes)
        {
            self.keep(line);
            let is_crlf = self.last == Some(b'\r');
            self.end_line(is_crlf)?;
            self.is_after_crlf = is_crlf;
            self.line.clear();
            self.last = None;
            bytes = rest;
        }
        self.keep(bytes);
        Ok(())
    }

    /// Keeps as much of a line as its check needs.
    fn keep(&mut self, piece: &[u8]) {
        self.last = piece.last().copied().or(self.last);
        let needed = match self.place {
            Place::Content => self.delimiter.len().saturating_add("--".len()),
            // The library refuses longer heads.
            Place::Head { .. } => usize::try_from(PART_HEAD_LIMIT_BYTES).unwrap_or(usize::MAX),
            Place::End => 0,
        };
        let room = needed.saturating_sub(self.line.len());
        let needed = piece.get(..room).unwrap_or(piece);
        self.line.extend_from_slice(needed);
    }

    /// Checks the current line, which is complete.
    fn end_line(&mut self, is_crlf: bool) -> Result<(), Flawed> {
        let after = self.line.strip_prefix(&*self.delimiter);
        match &mut self.place {
            Place::Content => match after {
                None => {}
                // Some parsers end a part here, and the library does not.
                Some(_) if !self.is_after_crlf => return Err(Flawed),
                Some(after) if after.starts_with(b"--") => self.place = Place::End,
                Some(_) => {
                    self.place = Place::Head {
                        lines: 0,
                        names: Vec::new(),
                    };
                }
            },
            Place::Head { lines, names } => {
                let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
                if !is_crlf || after.is_some() || line.contains(&b'\r') {
                    return Err(Flawed);
                }
                if line.is_empty() {
                    if *lines == 0 {
                        return Err(Flawed);
                    }
                    self.place = Place::Content;
                    self.part = self.part.saturating_add(1);
                    return Ok(());
                }
                *lines = lines.saturating_add(1);
                let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
                let name = name.to_ascii_lowercase();
                if name.starts_with(b"content-") {
                    if names.contains(&name) {
                        return Err(Flawed);
                    }
                    names.push(name);
                }
            }
            Place::End => {}
        }
        Ok(())
    }
}

/// The first line without its line feed, and what is after that.
fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = bytes;
    // Searches several bytes at a time; reading from a slice does not fail.
    let length = rest.skip_until(b'\n').ok()?;
    let line = bytes.get(..length)?.strip_suffix(b"\n")?;
    Some((line, rest))
}
