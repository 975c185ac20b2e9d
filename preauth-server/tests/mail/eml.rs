//! A mail, parsed as mail programs do.

use std::collections::BTreeMap;

/// Headers and both bodies.
pub(crate) struct Eml {
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) text: String,
    pub(crate) html: String,
}

impl Eml {
    /// Parses a mail; panics when it is malformed.
    pub(crate) fn parse(mail: &str) -> Self {
        assert!(mail.is_ascii(), "{mail}");
        let (head, body) = mail.split_once("\r\n\r\n").expect("headers end");
        let headers = headers(head);
        let kind = &headers["content-type"];
        assert!(kind.starts_with("multipart/alternative;"), "{kind}");
        let boundary = kind.split("boundary=\"").nth(1).unwrap();
        let boundary = format!("--{}", boundary.split('"').next().unwrap());
        let parts: Vec<&str> = body.split(&boundary).collect();
        assert_eq!(parts.len(), 4, "a text, its HTML, and the end: {body}");
        assert!(parts[3].starts_with("--"), "{body}");
        Self {
            text: decoded(parts[1], "text/plain; charset=utf-8"),
            html: decoded(parts[2], "text/html; charset=utf-8"),
            headers,
        }
    }
}

fn headers(head: &str) -> BTreeMap<String, String> {
    let unfolded = head.replace("\r\n ", " ").replace("\r\n\t", " ");
    let pairs = unfolded.split("\r\n").filter(|line| !line.is_empty());
    let pairs = pairs.map(|line| {
        let (name, value) = line.split_once(": ").expect("a header has a value");
        (name.to_lowercase(), value.trim().to_owned())
    });
    let all: Vec<_> = pairs.collect();
    let headers: BTreeMap<_, _> = all.iter().cloned().collect();
    assert_eq!(headers.len(), all.len(), "no header comes twice: {head}");
    headers
}

fn decoded(part: &str, kind: &str) -> String {
    let (head, body) = part.split_once("\r\n\r\n").expect("headers end");
    let headers = headers(head);
    assert_eq!(headers["content-type"].to_lowercase(), kind);
    match headers["content-transfer-encoding"].as_str() {
        "7bit" => body.to_owned(),
        "quoted-printable" => quoted_printable(body),
        "base64" => base64(body),
        other => panic!("{other} is no encoding"),
    }
}

fn quoted_printable(body: &str) -> String {
    let joined = body.replace("=\r\n", "");
    let mut pieces = joined.split('=');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let (code, rest) = piece.split_at(2);
        bytes.push(u8::from_str_radix(code, 16).expect("two hexadecimal digits"));
        bytes.extend(rest.as_bytes());
    }
    String::from_utf8(bytes).expect("UTF-8")
}

fn base64(body: &str) -> String {
    use base64::Engine;
    let packed: String = body.split_whitespace().collect();
    let bytes = base64::engine::general_purpose::STANDARD.decode(packed);
    String::from_utf8(bytes.expect("base64")).expect("UTF-8")
}
