//! The head of a request as it was sent: where it ends, how long its body is, and whether every
//! server on the way would read it alike.

use salvo::http::uri::Authority;

/// The request target: path and query string.
const TARGET_LIMIT_BYTES: usize = 8 * 1024;
/// More digits than this are no length that anything of ours accepts.
const LENGTH_DIGITS: usize = 18;

/// What a head says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// How long the body after it is.
    pub body: BodyLength,
    /// Why the request is refused whatever it asks for, if it is.
    pub flaw: Option<Flaw>,
}

/// How long a body is, as far as its head tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyLength {
    /// So many bytes.
    Bytes(u64),
    /// The body itself tells where it ends.
    Chunked,
}

/// Why a request is refused before anybody asks what it wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Flaw {
    /// A line ends in LF without CR.
    BareLineFeed,
    /// HTTP/1.1 without Host, Host twice, or one that names no host.
    Host,
    /// Content-Length twice, or beside Transfer-Encoding.
    Length,
    /// Transfer-Encoding twice, or anything but `chunked`.
    Encoding,
    /// The request target is too long.
    TargetTooLong,
    /// It came behind a chunked body before that was answered, unseen by this judge.
    Unseen,
}

/// Where the first head in `bytes` ends, empty lines before it included; `seen` bytes of them were
/// searched before.
pub(super) fn end_of_head(bytes: &[u8], seen: usize) -> Option<usize> {
    let begin = bytes
        .iter()
        .position(|byte| !matches!(byte, b'\r' | b'\n'))?;
    // A blank line is at most two bytes longer than the line feed that it follows.
    let from = seen.saturating_sub(2).max(begin);
    let unseen = bytes.iter().enumerate().skip(from);
    let mut line_feeds = unseen.filter(|(_, byte)| **byte == b'\n');
    line_feeds.find_map(|(index, _)| {
        let next = index.saturating_add(1);
        let rest = bytes.get(next..).unwrap_or_default();
        if rest.starts_with(b"\n") {
            Some(next.saturating_add(1))
        } else if rest.starts_with(b"\r\n") {
            Some(next.saturating_add(2))
        } else {
            None
        }
    })
}

/// Judges a whole head.
#[must_use]
pub(super) fn judge(bytes: &[u8]) -> Head {
    let mut facts = Facts::default();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\r\n").unwrap_or_else(|| {
            facts.has_bare_line_feed = true;
            line.strip_suffix(b"\n").unwrap_or(line)
        });
        facts.line(text);
    }
    Head {
        body: facts.body(),
        flaw: facts.flaw(),
    }
}

/// What counts in a head, as far as it was read.
#[derive(Default)]
struct Facts<'a> {
    request_line: Option<&'a [u8]>,
    has_bare_line_feed: bool,
    hosts: Vec<&'a [u8]>,
    lengths: Vec<&'a [u8]>,
    encodings: Vec<&'a [u8]>,
}

impl<'a> Facts<'a> {
    fn line(&mut self, text: &'a [u8]) {
        if text.is_empty() {
            return;
        }
        if self.request_line.is_none() {
            self.request_line = Some(text);
            return;
        }
        let mut halves = text.splitn(2, |byte| *byte == b':');
        let (Some(name), Some(value)) = (halves.next(), halves.next()) else {
            return;
        };
        let value = value.trim_ascii();
        if name.eq_ignore_ascii_case(b"host") {
            self.hosts.push(value);
        } else if name.eq_ignore_ascii_case(b"content-length") {
            self.lengths.push(value);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.encodings.push(value);
        }
    }

    /// Where it cannot be told, the HTTP library refuses the request or the flaw ends the connection.
    fn body(&self) -> BodyLength {
        if !self.encodings.is_empty() {
            return BodyLength::Chunked;
        }
        let length = self.lengths.first().and_then(|digits| length(digits));
        BodyLength::Bytes(length.unwrap_or(0))
    }

    fn flaw(&self) -> Option<Flaw> {
        let flaws = [
            (self.has_bare_line_feed, Flaw::BareLineFeed),
            (!self.names_its_host(), Flaw::Host),
            (
                self.lengths.len().saturating_add(self.encodings.len()) > 1,
                if self.lengths.is_empty() {
                    Flaw::Encoding
                } else {
                    Flaw::Length
                },
            ),
            (
                self.encodings
                    .iter()
                    .any(|value| !value.eq_ignore_ascii_case(b"chunked")),
                Flaw::Encoding,
            ),
            (
                self.target().len() > TARGET_LIMIT_BYTES,
                Flaw::TargetTooLong,
            ),
        ];
        let mut found = flaws.into_iter().filter(|(is_there, _)| *is_there);
        found.next().map(|(_, flaw)| flaw)
    }

    /// HTTP/1.1 has one Host; HTTP/1.0 may go without.
    fn names_its_host(&self) -> bool {
        match self.hosts.as_slice() {
            [] => !self.request_line().ends_with(b" HTTP/1.1"),
            [host] => host.is_empty() || is_host(host),
            _ => false,
        }
    }

    fn target(&self) -> &'a [u8] {
        let mut words = self.request_line().split(|byte| *byte == b' ');
        words.nth(1).unwrap_or_default()
    }

    fn request_line(&self) -> &'a [u8] {
        self.request_line.unwrap_or_default()
    }
}

fn length(digits: &[u8]) -> Option<u64> {
    let is_plain = digits.len() <= LENGTH_DIGITS && digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_plain)?;
    text.parse().ok()
}

/// A host and perhaps a port, without user or password.
fn is_host(value: &[u8]) -> bool {
    !value.contains(&b'@') && Authority::try_from(value).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(lines: &str) -> Head {
        judge(format!("POST / HTTP/1.1\r\n{lines}\r\n").as_bytes())
    }

    #[test]
    fn a_head_ends_with_its_first_empty_line() {
        for (bytes, end) in [
            ("GET / HTTP/1.1\r\nHost: x\r\n\r\nrest", Some(27)),
            ("\r\n\r\nGET / HTTP/1.1\r\n\r\n", Some(22)),
            ("GET / HTTP/1.1\n\nrest", Some(16)),
            ("GET / HTTP/1.1\n\r\nrest", Some(17)),
            ("GET / HTTP/1.1\r\nHost: x\r\n\r", None),
            ("\r\n\r\n\r\n", None),
            ("", None),
        ] {
            for seen in 0..end.unwrap_or(bytes.len()) {
                assert_eq!(end_of_head(bytes.as_bytes(), seen), end, "{bytes:?} {seen}");
            }
        }
    }

    #[test]
    fn a_head_that_everybody_reads_alike_has_no_flaw() {
        for (lines, body) in [
            ("Host: x\r\n", BodyLength::Bytes(0)),
            (
                "host: [::1]:8080\r\nCONTENT-LENGTH:  7 \r\n",
                BodyLength::Bytes(7),
            ),
            (
                "Host:\r\nTransfer-Encoding: Chunked\r\n",
                BodyLength::Chunked,
            ),
        ] {
            assert_eq!(head(lines), Head { body, flaw: None }, "{lines:?}");
        }
        assert_eq!(judge(b"GET / HTTP/1.0\r\n\r\n").flaw, None);
    }

    #[test]
    fn a_head_that_could_be_misread_says_why() {
        for (lines, flaw) in [
            ("", Flaw::Host),
            ("Host: x\r\nhost: x\r\n", Flaw::Host),
            ("Host: x y\r\n", Flaw::Host),
            ("Host: user@x\r\n", Flaw::Host),
            ("Host: x\nAccept: */*\r\n", Flaw::BareLineFeed),
            (
                "Host: x\r\nContent-Length: 2\r\nContent-Length: 2\r\n",
                Flaw::Length,
            ),
            (
                "Host: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n",
                Flaw::Length,
            ),
            (
                "Host: x\r\nTransfer-Encoding: gzip, chunked\r\n",
                Flaw::Encoding,
            ),
            (
                "Host: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                Flaw::Encoding,
            ),
        ] {
            assert_eq!(head(lines).flaw, Some(flaw), "{lines:?}");
        }
    }

    #[test]
    fn a_target_may_have_8_kib_and_no_byte_more() {
        let flaw = |bytes: usize| {
            let target = "x".repeat(bytes - 1);
            judge(format!("GET /{target} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).flaw
        };
        assert_eq!(flaw(8 * 1024), None);
        assert_eq!(flaw(8 * 1024 + 1), Some(Flaw::TargetTooLong));
    }
}
