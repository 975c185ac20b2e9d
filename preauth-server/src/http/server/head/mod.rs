//! The head of a request as it was sent: where it ends, how long its body is, and whether every
//! server on the way would read it alike.
//!
//! The HTTP library reads the same bytes afterwards. A head that is accepted here without a flaw
//! means the same to the library, or the library refuses it (`agreement.rs`, and the fuzz target
//! `request_head`).

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod reading;

use salvo::http::uri::Authority;

/// Maximum length of the request target: path and query string.
const MAX_TARGET_BYTES: usize = 8 * 1024;
/// Maximum number of digits of a length: this server accepts no body that large, and some servers
/// on the way cannot represent the number.
const MAX_LENGTH_DIGITS: usize = 18;

/// The parsed head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head<'a> {
    /// The method, as sent.
    pub method: &'a [u8],
    /// The request target, as sent.
    pub target: &'a [u8],
    /// The number of header lines.
    pub header_count: usize,
    /// The length of the body after it.
    pub body: BodyLength,
    /// The flaw for which the request is refused, whichever endpoint it is for.
    pub flaw: Option<Flaw>,
}

/// The length of a body, as its head declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyLength {
    /// A number of bytes.
    Bytes(u64),
    /// Chunks, of which the last one ends the body.
    Chunked,
}

/// Why a request is refused before its endpoint sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A line that is not `name: value` and CR LF: folded, with a blank before the colon, ended by LF
    /// alone, or with a control character.
    Line,
    /// Not a method, a target without fragment, and HTTP/1.0 or HTTP/1.1, with one blank between them.
    RequestLine,
    /// HTTP/1.1 without Host, Host twice, or one that names no host.
    Host,
    /// Content-Length that is not 1 to 18 digits, is repeated, or is sent with Transfer-Encoding.
    Length,
    /// Transfer-Encoding that is repeated, in HTTP/1.0, or not `chunked`.
    Encoding,
    /// Repeated Content-Type.
    ContentType,
    /// The request target is too long.
    TargetTooLong,
    /// The head came after a chunked body before that was answered, so this parser did not read
    /// it.
    Unseen,
}

/// Where the first head in `bytes` ends, preceding empty lines included; `seen` bytes were searched
/// before.
#[must_use]
pub fn end_of_head(bytes: &[u8], seen: usize) -> Option<usize> {
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

/// Reads a whole head.
#[must_use]
pub fn read(bytes: &[u8]) -> Head<'_> {
    let mut facts = Facts::default();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\r\n").unwrap_or_else(|| {
            facts.has_flawed_line = true;
            line.strip_suffix(b"\n").unwrap_or(line)
        });
        facts.line(text);
    }
    facts.head()
}

/// The relevant facts of a head, as far as it was read.
#[derive(Default)]
struct Facts<'a> {
    request_line: RequestLine<'a>,
    has_request_line: bool,
    has_flawed_line: bool,
    header_count: usize,
    hosts: Vec<&'a [u8]>,
    lengths: Vec<&'a [u8]>,
    encodings: Vec<&'a [u8]>,
    content_types: usize,
}

impl<'a> Facts<'a> {
    fn line(&mut self, text: &'a [u8]) {
        if text.is_empty() {
            return;
        }
        if !self.has_request_line {
            self.request_line = RequestLine::read(text);
            self.has_request_line = true;
            return;
        }
        self.header_count = self.header_count.saturating_add(1);
        let mut halves = text.splitn(2, |byte| *byte == b':');
        let (Some(name), Some(value)) = (halves.next(), halves.next()) else {
            self.has_flawed_line = true;
            return;
        };
        // A folded line begins with a blank, which is not allowed in a name.
        self.has_flawed_line |= !is_token(name) || !value.iter().all(|byte| is_text(*byte));
        let value = value.trim_ascii();
        if name.eq_ignore_ascii_case(b"host") {
            self.hosts.push(value);
        } else if name.eq_ignore_ascii_case(b"content-length") {
            self.lengths.push(value);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.encodings.push(value);
        } else if name.eq_ignore_ascii_case(b"content-type") {
            self.content_types = self.content_types.saturating_add(1);
        }
    }

    fn head(&self) -> Head<'a> {
        Head {
            method: self.request_line.method,
            target: self.request_line.target,
            header_count: self.header_count,
            body: self.body(),
            flaw: self.flaw(),
        }
    }

    /// An unknown length always comes with a flaw, which ends the connection.
    fn body(&self) -> BodyLength {
        if !self.encodings.is_empty() {
            return BodyLength::Chunked;
        }
        let length = self.lengths.first().and_then(|digits| length(digits));
        BodyLength::Bytes(length.unwrap_or(0))
    }

    fn flaw(&self) -> Option<Flaw> {
        let flaws = [
            (self.has_flawed_line, Flaw::Line),
            (
                self.request_line.target.len() > MAX_TARGET_BYTES,
                Flaw::TargetTooLong,
            ),
            (!self.request_line.is_sound(), Flaw::RequestLine),
            (!self.names_its_host(), Flaw::Host),
            (!self.has_sound_length(), Flaw::Length),
            (!self.has_sound_encoding(), Flaw::Encoding),
            (self.content_types > 1, Flaw::ContentType),
        ];
        let mut found = flaws.into_iter().filter(|(is_there, _)| *is_there);
        found.next().map(|(_, flaw)| flaw)
    }

    /// HTTP/1.1 has one Host; HTTP/1.0 may go without.
    fn names_its_host(&self) -> bool {
        match self.hosts.as_slice() {
            [] => self.request_line.version == b"HTTP/1.0",
            [host] => host.is_empty() || is_host(host),
            _ => false,
        }
    }

    fn has_sound_length(&self) -> bool {
        match self.lengths.as_slice() {
            [] => true,
            [digits] => self.encodings.is_empty() && length(digits).is_some(),
            _ => false,
        }
    }

    fn has_sound_encoding(&self) -> bool {
        match self.encodings.as_slice() {
            [] => true,
            [encoding] => {
                self.request_line.version == b"HTTP/1.1"
                    && encoding.eq_ignore_ascii_case(b"chunked")
            }
            _ => false,
        }
    }
}

/// The three parts of the first line.
#[derive(Default)]
struct RequestLine<'a> {
    method: &'a [u8],
    target: &'a [u8],
    version: &'a [u8],
}

impl<'a> RequestLine<'a> {
    fn read(line: &'a [u8]) -> Self {
        let mut words = line.splitn(3, |byte| *byte == b' ');
        let mut word = || words.next().unwrap_or_default();
        Self {
            method: word(),
            target: word(),
            version: word(),
        }
    }

    /// A target must not contain a fragment (RFC 9112, 3.2): some servers drop it, others do not.
    fn is_sound(&self) -> bool {
        let is_plain = |byte: &u8| *byte > b' ' && !matches!(byte, b'#' | 0x7f);
        is_token(self.method)
            && !self.target.is_empty()
            && self.target.iter().all(is_plain)
            && matches!(self.version, b"HTTP/1.0" | b"HTTP/1.1")
    }
}

fn length(digits: &[u8]) -> Option<u64> {
    let is_plain =
        (1..=MAX_LENGTH_DIGITS).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_plain)?;
    text.parse().ok()
}

/// A host and perhaps a port, without user or password.
fn is_host(value: &[u8]) -> bool {
    !value.contains(&b'@') && Authority::try_from(value).is_ok()
}

/// A method or the name of a header (RFC 9110, 5.6.2).
fn is_token(word: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !word.is_empty() && word.iter().all(is_letter)
}

/// Allowed in a header's value: no control character but the tab.
const fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(lines: &str) -> Head<'static> {
        let bytes = format!("POST / HTTP/1.1\r\n{lines}\r\n").into_bytes();
        read(bytes.leak())
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
    fn a_head_that_every_server_reads_alike_has_no_flaw() {
        for (lines, header_count, body) in [
            ("Host: x\r\n", 1, BodyLength::Bytes(0)),
            (
                "host: [::1]:8080\r\nCONTENT-LENGTH:  7 \r\nX:\r\n",
                3,
                BodyLength::Bytes(7),
            ),
            (
                "Host:\r\nTransfer-Encoding: Chunked\r\n",
                2,
                BodyLength::Chunked,
            ),
            (
                "Host: x\r\nContent-Length: 000000000000000002\r\nX: \u{e7}\t\r\n",
                3,
                BodyLength::Bytes(2),
            ),
        ] {
            let expected = Head {
                method: b"POST",
                target: b"/",
                header_count,
                body,
                flaw: None,
            };
            assert_eq!(head(lines), expected, "{lines:?}");
        }
        assert_eq!(read(b"GET / HTTP/1.0\r\n\r\n").flaw, None);
        assert_eq!(read(b"\r\nGET / HTTP/1.0\r\n\r\n").flaw, None);
    }

    #[test]
    fn a_head_that_could_be_misread_has_a_flaw() {
        for (lines, flaw) in [
            ("", Flaw::Host),
            ("Host: x\r\nhost: x\r\n", Flaw::Host),
            ("Host: x y\r\n", Flaw::Host),
            ("Host: user@x\r\n", Flaw::Host),
            (
                "Host: x\r\nTransfer-Encoding: gzip, chunked\r\n",
                Flaw::Encoding,
            ),
            (
                "Host: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                Flaw::Encoding,
            ),
            (
                "Host: x\r\nContent-Type: text/xml\r\ncontent-type: text/xml\r\n",
                Flaw::ContentType,
            ),
        ] {
            assert_eq!(head(lines).flaw, Some(flaw), "{lines:?}");
        }
        let chunked = b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(read(chunked).flaw, Some(Flaw::Encoding));
    }

    #[test]
    fn a_length_that_does_not_parse_is_a_flaw() {
        for value in [
            "",
            "+2",
            "-2",
            "2 ,2",
            "2, 2",
            "2 2",
            "0x2",
            "2.0",
            "\u{664}",
            "1000000000000000000",
            "10000000000000000000",
            "18446744073709551618",
        ] {
            let lines = format!("Host: x\r\nContent-Length: {value}\r\n");
            assert_eq!(head(&lines).flaw, Some(Flaw::Length), "{value:?}");
        }
        for lines in [
            "Content-Length: 2\r\nContent-Length: 2\r\n",
            "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
        ] {
            let lines = format!("Host: x\r\n{lines}");
            assert_eq!(head(&lines).flaw, Some(Flaw::Length), "{lines:?}");
        }
    }

    #[test]
    fn an_obsolete_line_is_a_flaw() {
        for lines in [
            "Host: x\nAccept: */*\r\n",
            "Host: x\r\nX: a\r\n b\r\n",
            "Host: x\r\nX: a\r\n\tb: c\r\n",
            "Host: x\r\nX : a\r\n",
            "Host: x\r\nX\t: a\r\n",
            "Host: x\r\nX: a\rb\r\n",
            "Host: x\r\nX: a\r\r\n",
            "Host: x\r\n\r\r\n",
            "Host: x\r\nX: a\0b\r\n",
            "Host: x\r\nno colon\r\n",
            "Host: x\r\n: no name\r\n",
        ] {
            assert_eq!(head(lines).flaw, Some(Flaw::Line), "{lines:?}");
        }
        assert_eq!(read(b"\nGET / HTTP/1.0\r\n\r\n").flaw, Some(Flaw::Line));
    }

    #[test]
    fn a_request_line_is_method_target_and_version() {
        for line in [
            "GET /",
            "GET  / HTTP/1.1",
            "GET / HTTP/1.1 ",
            " GET / HTTP/1.1",
            "GET /a b HTTP/1.1",
            "GET /a\tb HTTP/1.1",
            "GET /#a HTTP/1.1",
            "GET / HTTP/2.0",
            "GET / HTTP/1.10",
            "GET / http/1.1",
            "G(T / HTTP/1.1",
        ] {
            let bytes = format!("{line}\r\nHost: x\r\n\r\n");
            let flaw = read(bytes.as_bytes()).flaw;
            assert_eq!(flaw, Some(Flaw::RequestLine), "{line:?}");
        }
    }

    #[test]
    fn a_target_may_have_8_kib_and_no_byte_more() {
        let flaw = |bytes: usize| {
            let target = "x".repeat(bytes - 1);
            read(format!("GET /{target} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).flaw
        };
        assert_eq!(flaw(8 * 1024), None);
        assert_eq!(flaw(8 * 1024 + 1), Some(Flaw::TargetTooLong));
    }
}
