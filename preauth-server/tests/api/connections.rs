//! Slow connections, many connections, and more than the process can hold.

use std::process::Command;
use std::time::Duration;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use test_support::{Backend, Sandbox, connect, on_each_database};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

on_each_database! {
    five_hundred_slow_connections_keep_nobody_out_and_are_cut_off,
    a_connection_may_lie_idle_for_longer_than_a_head_may_take,
    connections_in_a_burst_wait_to_be_accepted_and_not_to_connect,
    running_out_of_file_descriptors_is_logged_once_and_recovers,
}

const DEADLINE: Duration = Duration::from_mins(2);

/// Opens `count` connections and sends these bytes on each.
async fn open(sandbox: &Sandbox, count: usize, bytes: &[u8]) -> Vec<TcpStream> {
    let mut streams = Vec::new();
    for _ in 0..count {
        let mut stream = connect(sandbox.text("baseUrl")).await;
        stream.write_all(bytes).await.unwrap();
        streams.push(stream);
    }
    streams
}

async fn five_hundred_slow_connections_keep_nobody_out_and_are_cut_off(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let mut slow = JoinSet::new();
    for mut stream in open(&sandbox, 500, b"GET / HTTP/1.1\r\nHo").await {
        slow.spawn(async move {
            let mut rest = Vec::new();
            // A reset closes the connection, too.
            let _ = stream.read_to_end(&mut rest).await;
            rest
        });
    }
    assert_eq!(caller.get(PRE_AUTHORIZATIONS).await.status, 200);
    assert!(slow.try_join_next().is_none(), "they are still there");
    let all_end = async {
        while let Some(rest) = slow.join_next().await {
            assert_eq!(rest.unwrap(), b"", "a head cut off has no answer");
        }
    };
    let timely = tokio::time::timeout(DEADLINE, all_end).await;
    timely.expect("slow connections are cut off");
}

async fn a_connection_may_lie_idle_for_longer_than_a_head_may_take(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let key = sandbox.text("apiKey");
    let request = format!(
        "GET {PRE_AUTHORIZATIONS}/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n"
    );
    let mut stream = open(&sandbox, 1, request.as_bytes()).await.remove(0);
    let mut first = Vec::new();
    while !first.ends_with(b"}]}") {
        assert_ne!(stream.read_buf(&mut first).await.unwrap(), 0);
    }
    // One test in real time: the timers themselves are tested in `http/server/connection.rs`.
    tokio::time::sleep(Duration::from_secs(12)).await;
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut second = String::new();
    stream.read_to_string(&mut second).await.unwrap();
    assert!(second.starts_with("HTTP/1.1 404 "), "{second}");
}

async fn connections_in_a_burst_wait_to_be_accepted_and_not_to_connect(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let signal = |signal: &str| {
        let id = sandbox.process_id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status();
        assert!(sent.unwrap().success());
    };
    // A stopped process accepts none of them.
    signal("-STOP");
    let burst = tokio::time::timeout(DEADLINE, open(&sandbox, 1_000, b"")).await;
    signal("-CONT");
    assert_eq!(burst.expect("all are connected").len(), 1_000);
    let caller = sandbox.caller("apiKey");
    assert_eq!(caller.get(PRE_AUTHORIZATIONS).await.status, 200);
}

async fn running_out_of_file_descriptors_is_logged_once_and_recovers(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let caller = sandbox.caller("apiKey");
    let limit = |count: &str| {
        let process = ["--pid", &sandbox.process_id().to_string()];
        let done = Command::new("prlimit")
            .args(process)
            .arg(format!("--nofile={count}:"))
            .status();
        assert!(done.unwrap().success());
    };
    let complaint = "no connection is accepted";
    limit("64");
    // Some are accepted, and some wait in the queue.
    let crowd = open(&sandbox, 100, b"").await;
    let reported = async {
        while !sandbox.log().contains(complaint) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(DEADLINE, reported)
        .await
        .expect("it reports that it is full");
    drop(crowd);
    // The server may pause before it accepts again, and the crowd is ahead of us in the queue.
    // While the crowd holds the descriptors, another connection to the database may fail.
    let served = async {
        loop {
            let answer = caller.get(PRE_AUTHORIZATIONS).await;
            if answer.status != 503 {
                return answer.status;
            }
        }
    };
    let served = tokio::time::timeout(DEADLINE, served).await;
    assert_eq!(served.expect("it recovers"), 200);
    assert_eq!(sandbox.log().matches(complaint).count(), 1);
}
