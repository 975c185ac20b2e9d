//! Requests byte for byte, each on its own connection.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Answer;

const ANSWER_DEADLINE: Duration = Duration::from_mins(1);

/// Connects to the listener at `base_url`.
pub async fn connect(base_url: &str) -> TcpStream {
    let address = base_url.trim_start_matches("http://");
    TcpStream::connect(address).await.unwrap()
}

/// Sends these bytes, closes this side, and reads the first answer, if any.
pub async fn exchange(base_url: &str, bytes: &[u8]) -> Option<Answer> {
    let (mut reader, mut writer) = connect(base_url).await.into_split();
    let send = async {
        // A request that is refused early may not be sent completely.
        let _ = writer.write_all(bytes).await;
        let _ = writer.shutdown().await;
    };
    let mut received = Vec::new();
    let receive = async {
        // The bytes that arrived before a reset count.
        let _ = reader.read_to_end(&mut received).await;
    };
    let both = async { tokio::join!(send, receive) };
    let timely = tokio::time::timeout(ANSWER_DEADLINE, both).await;
    timely.expect("the connection is closed in time");
    first_answer(&received)
}

/// The first answer in these bytes, interim answers skipped.
pub fn first_answer(bytes: &[u8]) -> Option<Answer> {
    let text = String::from_utf8_lossy(bytes);
    let (head, rest) = text.split_once("\r\n\r\n")?;
    let mut lines = head.split("\r\n");
    let status: u16 = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    if status < 200 {
        return first_answer(rest.as_bytes());
    }
    let headers: HeaderMap = lines
        .map(|line| {
            let (name, value) = line
                .split_once(": ")
                .unwrap_or((line.trim_end_matches(':'), ""));
            let name: HeaderName = name.parse().unwrap();
            (name, HeaderValue::from_str(value).unwrap())
        })
        .collect();
    let length = headers.get("content-length").map_or(0, |value| {
        let digits = value.to_str().unwrap();
        digits.parse().unwrap()
    });
    Some(Answer {
        status,
        headers,
        text: rest.get(..length).unwrap_or(rest).to_owned(),
    })
}
