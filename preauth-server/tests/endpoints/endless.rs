//! Receivers whose answers never end.

use crate::house::House;
use crate::receiver::{Manner, NO_CONTENT, Receiver};

/// Maximum growth of the server's peak memory by two deliveries to a receiver that sends endlessly.
const MAX_ADDED_KIB: u64 = 1024;
/// Deliveries after which the server's memory is stable.
const WARM_UP: usize = 12;

#[tokio::test]
async fn interim_answers_without_an_end_are_cut_off() {
    let hints = "HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n";
    let outcome = meet(Manner::GoesOn("", hints.repeat(100))).await;
    assert_eq!(outcome, "ANSWER_TOO_LARGE");
}

#[tokio::test]
async fn a_head_without_an_end_is_cut_off() {
    let again = "x-more: again and again\r\n".repeat(100);
    let outcome = meet(Manner::GoesOn("HTTP/1.1 200 OK\r\n", again)).await;
    assert_eq!(outcome, "ANSWER_TOO_LARGE");
}

#[tokio::test]
async fn a_body_without_an_end_is_cut_off_and_the_status_counts() {
    let head = "HTTP/1.1 200 OK\r\n\r\n";
    let outcome = meet(Manner::GoesOn(head, "x".repeat(65_536))).await;
    assert_eq!(outcome, "200");
}

/// The outcome of a delivery to such a receiver; the server's memory stays bounded.
async fn meet(manner: Manner) -> String {
    let house = House::on_this_machine().await;
    let ordinary = Receiver::start("127.0.0.1:0", None, NO_CONTENT).await;
    house.register(&ordinary.url("http", "127.0.0.1")).await;
    for _ in 0..WARM_UP {
        assert_eq!(house.outcome().await, "204");
    }
    let receiver = Receiver::start("127.0.0.1:0", None, manner).await;
    house.register(&receiver.url("http", "127.0.0.1")).await;
    let process = house.server.process.id();
    let before = memory_kib(process, "VmRSS:");
    forget_peak(process);
    let (attempt, _) = tokio::join!(house.attempt(), house.attempt());
    let added = memory_kib(process, "VmHWM:").saturating_sub(before);
    assert!(added <= MAX_ADDED_KIB, "{added} KiB more");
    let kept = attempt["responseBody"].as_str().unwrap_or_default();
    assert!(kept.len() <= 1024, "{}", kept.len());
    let status = attempt["httpStatus"].as_u64();
    status.map_or_else(
        || attempt["error"].as_str().unwrap().to_owned(),
        |status| status.to_string(),
    )
}

/// Reads a line of `/proc/PID/status`.
fn memory_kib(process: u32, line: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let found = status.lines().find_map(|it| it.strip_prefix(line)).unwrap();
    found.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

/// Resets `VmHWM`: from now on it is the peak since now.
fn forget_peak(process: u32) {
    // The process is protected from other processes; only root may write here. Otherwise the peak
    // is that since the start, which is no smaller.
    let _ = std::fs::write(format!("/proc/{process}/clear_refs"), "5");
}

/// The only test that waits for the ten seconds of the real timeout.
// Contract: delivery/10-seconds
#[tokio::test]
async fn a_receiver_that_sends_a_byte_a_second_is_given_up_after_ten_seconds() {
    let house = House::on_this_machine().await;
    let manner = Manner::Drips("HTTP/1.1 204 No Content\r\n\r\n");
    let receiver = Receiver::start("127.0.0.1:0", None, manner).await;
    house.register(&receiver.url("http", "127.0.0.1")).await;
    let attempt = house.attempt().await;
    assert_eq!(attempt["error"], "TIMED_OUT");
    let took_ms = attempt["durationMs"].as_u64().unwrap();
    // A loaded machine may be late, never early.
    assert!((9_900..30_000).contains(&took_ms), "{took_ms} ms");
}
