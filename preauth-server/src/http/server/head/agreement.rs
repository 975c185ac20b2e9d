//! Checks that an accepted head means the same to the HTTP library, or that the library refuses it.

use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::sample::select;
use proptest::test_runner::Config;
use tokio::runtime::Builder;

use super::reading::{Reading, reading_of};
use super::{BodyLength, end_of_head, read};

/// Heads that are close to those of real clients.
const REQUEST_LINES: [&str; 14] = [
    "GET / HTTP/1.1",
    "POST /a?b=%20 HTTP/1.1",
    "POST /a HTTP/1.0",
    "GET http://x/a HTTP/1.1",
    "GET HTTP://x HTTP/1.1",
    "OPTIONS * HTTP/1.1",
    "CONNECT x:443 HTTP/1.1",
    "GET /a#b HTTP/1.1",
    "GET //a?? HTTP/1.1",
    "GET /\u{e7} HTTP/1.1",
    "GET  / HTTP/1.1",
    "get a HTTP/1.1",
    "GET / HTTP/2.0",
    "\r\nGET / HTTP/1.1",
];
const LINES: [&str; 26] = [
    "Host: x",
    "host:x:80",
    "Content-Length: 2",
    "content-length: 0",
    "Content-Length: +2",
    "Content-Length: 2, 2",
    "Content-Length: 1000000000000000000",
    "Content-Length: 99999999999999999999",
    "Content-Length:",
    "Content-Length : 2",
    "Transfer-Encoding: chunked",
    "transfer-encoding: CHUNKED",
    "Transfer-Encoding: gzip, chunked",
    "Transfer-Encoding: chunked, identity",
    "Transfer-Encoding:\u{b}chunked",
    "Content-Type: application/json",
    "Content-Type: multipart/form-data; boundary=b",
    "Connection: close, content-length",
    "Upgrade: h2c",
    "Expect: 100-continue",
    "X: a\r\n b",
    "X: \u{e7}\t",
    "X: a\rb",
    ": x",
    "x",
    "",
];

fn line_end() -> impl Strategy<Value = &'static str> {
    prop_oneof![20 => Just("\r\n"), 1 => Just("\n"), 1 => Just("\r"), 1 => Just("\r\r\n")]
}

fn heads() -> impl Strategy<Value = Vec<u8>> {
    let line = (select(&LINES[..]), line_end());
    let lines = proptest::collection::vec(line, 0..6);
    let spoilt = proptest::option::weighted(0.3, (any::<usize>(), any::<u8>()));
    let parts = (select(&REQUEST_LINES[..]), line_end(), lines, spoilt);
    parts.prop_map(|(request_line, end, lines, spoilt)| {
        let mut head = format!("{request_line}{end}");
        for (line, end) in lines {
            head.push_str(line);
            head.push_str(end);
        }
        head.push_str("\r\n");
        let mut head = head.into_bytes();
        if let Some((place, byte)) = spoilt {
            let place = place.checked_rem(head.len()).unwrap_or(0);
            head[place] = byte;
        }
        head
    })
}

/// Returns the library's reading, if both accept the head.
fn compare(bytes: &[u8]) -> Option<Reading> {
    let end = end_of_head(bytes, 0)?;
    let whole = &bytes[..end];
    let head = read(whole);
    if head.flaw.is_some() {
        return None;
    }
    let runtime = Builder::new_current_thread().build().unwrap();
    let reading = runtime.block_on(reading_of(whole))?;
    let shown = String::from_utf8_lossy(whole);
    assert_eq!(reading.method.as_bytes(), head.method, "{shown:?}");
    assert!(reading.has_target(head.target), "{reading:?} of {shown:?}");
    assert_eq!(reading.header_count, head.header_count, "{shown:?}");
    let length = match head.body {
        BodyLength::Bytes(bytes) => Some(bytes),
        BodyLength::Chunked => None,
    };
    assert_eq!(reading.length, length, "{shown:?}");
    Some(reading)
}

proptest! {
    #![proptest_config(Config::with_cases(4_000))]

    #[test]
    fn an_accepted_head_means_the_same_to_the_http_library(head in heads()) {
        compare(&head);
    }
}

#[test]
fn ordinary_heads_are_accepted_by_both() {
    for head in [
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET http://x/a HTTP/1.1\r\nHost: x\r\n\r\n",
        "\r\nGET / HTTP/1.0\r\n\r\n",
    ] {
        assert!(compare(head.as_bytes()).is_some(), "{head:?}");
    }
}

#[test]
fn the_seeds_of_the_fuzz_target_agree() {
    let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/request_head");
    let mut count = 0;
    for seed in std::fs::read_dir(seeds).unwrap() {
        let path = seed.unwrap().path();
        if path.is_file() {
            compare(&std::fs::read(path).unwrap());
            count += 1;
        }
    }
    assert!(count > 10, "{count} seeds");
}
