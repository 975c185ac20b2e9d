//! The limit of open file descriptors.

use std::process::Command;

use serde_json::Value;
use test_support::{Backend, Home, RawCaller, Server, server_program};

use super::exposition::Exposition;

const TOKEN: &str = "0123456789abcdef";

/// A server that is started with these limits, its own limit, and its warnings about that.
async fn limited(soft: u32, hard: u32) -> (f64, Vec<Value>) {
    let mut shell = Command::new("bash");
    let limits = format!("ulimit -S -n {soft} && ulimit -H -n {hard} && exec \"$0\" \"$@\"");
    shell.args(["-c", &limits]).arg(server_program());
    let home = Home::new(Backend::Sqlite).await;
    let nothing_more: [(&str, &str); 0] = [];
    let server = Server::start_program(shell, home, TOKEN, &nothing_more).await;
    let scraped = RawCaller::new(&server.platform_url, None)
        .get("/metrics")
        .await;
    let scraped = Exposition::parse(&scraped.text).unwrap();
    let log = server.stop();
    let lines = log.lines().filter_map(|it| serde_json::from_str(it).ok());
    let is_warning = |line: &Value| {
        let text = line["message"].as_str().unwrap_or_default();
        text.starts_with("fewer file descriptors")
    };
    let warnings = lines.filter(is_warning).collect();
    (scraped.value("process_max_fds", &[]), warnings)
}

#[tokio::test]
async fn the_soft_limit_of_file_descriptors_is_raised_to_the_hard_one() {
    let (limit, warnings) = limited(256, 8_192).await;
    assert!((limit - 8_192.0).abs() < 0.5, "{limit}");
    assert_eq!(warnings, Vec::<Value>::new());
}

#[tokio::test]
async fn a_hard_limit_that_is_too_low_is_logged_once() {
    let (limit, warnings) = limited(256, 1_024).await;
    assert!((limit - 1_024.0).abs() < 0.5, "{limit}");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0]["level"], "WARN");
    assert_eq!(warnings[0]["limit"], 1_024);
    // 2,048 connections of each listener, 1,536 attempts, and everything else.
    assert_eq!(warnings[0]["needed"], 2 * 2_048 + 1_536 + 512);
}
