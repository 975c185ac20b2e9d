//! Limits of uploads: size, time, and room for those that run at once.

use std::io::ErrorKind;
use std::time::Duration;

use futures_util::future::join_all;
use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use reqwest::Method;
use test_support::{Answer, Backend, Form, Sandbox, connect, offer_body, on_each_database};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{FILE_LIMIT_BYTES, PDF, begin_upload, beginning, operations, pdf, post};
use crate::strangers::other_company;

on_each_database! {
    ten_megabytes_are_taken_and_not_a_byte_more,
    a_file_that_never_ends_is_refused_as_soon_as_it_is_too_large,
    uploads_that_only_announce_their_length_hold_no_room,
    uploads_wait_for_room_and_creates_without_a_file_do_not,
    an_upload_that_stalls_is_given_up,
}

// Contract: create-file/size limit/invoice-file
async fn ten_megabytes_are_taken_and_not_a_byte_more(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut content = pdf(FILE_LIMIT_BYTES);
    let created = post(&sandbox, "NF-1", &content).await;
    assert_eq!(created.status, 201, "{}", created.text);
    let path = "/api/platform/v1/operations/1/invoice-file";
    assert!(sandbox.platform().get_bytes(path).await.1 == content);
    content.push(b'x');
    let refused = post(&sandbox, "NF-2", &content).await;
    assert_eq!(refused.refusal(), (413, "FILE_TOO_LARGE".to_owned()));
    assert_eq!(operations(&sandbox).await, 1);
    assert_eq!(sandbox.names_in("uploads"), Vec::<String>::new());
}

// Contract: error-code/FILE_TOO_LARGE
async fn a_file_that_never_ends_is_refused_as_soon_as_it_is_too_large(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let stream = connect(sandbox.text("baseUrl")).await;
    let (mut reader, mut writer) = stream.into_split();
    let bytes = beginning(&sandbox, "NF-1", "Transfer-Encoding: chunked");
    writer.write_all(&bytes).await.unwrap();
    let endless = async {
        let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x1_0000));
        let mut sent = 0_usize;
        while writer.write_all(chunk.as_bytes()).await.is_ok() {
            sent += 0x1_0000;
        }
        sent
    };
    let mut answer = Vec::new();
    let receive = async {
        let _ = reader.read_to_end(&mut answer).await;
    };
    let both = async { tokio::join!(endless, receive) };
    let (sent, ()) = tokio::time::timeout(Duration::from_mins(2), both)
        .await
        .unwrap();
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("FILE_TOO_LARGE"), "{answer}");
    assert!(sent < 64 * 1024 * 1024, "{sent} bytes were taken");
    assert_eq!(operations(&sandbox).await, 0);
}

async fn uploads_that_only_announce_their_length_hold_no_room(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut idle = Vec::new();
    for n in 0..70 {
        idle.push(begin_upload(&sandbox, &format!("NF-{n}")).await);
    }
    let content = pdf(FILE_LIMIT_BYTES);
    for n in 0..3 {
        let answer = post(&sandbox, &format!("NF-LARGE-{n}"), &content).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
    }
    drop(idle);
}

async fn uploads_wait_for_room_and_creates_without_a_file_do_not(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let content = pdf(FILE_LIMIT_BYTES);
    let mut uploads = Vec::new();
    // A company may use a quarter of the upload space; what the uploads leave of it is less than a file
    // needs, once the server has read all that they sent.
    let full = loop {
        keep_up(&sandbox, &mut uploads, &content).await;
        if let Some(full) = post_until(&sandbox, "NF-FULL", &content, 503).await {
            break full;
        }
    };
    assert_eq!(full.refusal(), (503, "SERVICE_UNAVAILABLE".to_owned()));
    assert_eq!(full.header("retry-after"), "5");
    let erp = sandbox.caller("apiKey");
    let json = erp
        .post_json(PRE_AUTHORIZATIONS, &offer_body(&sandbox, "NF-JSON"))
        .await;
    assert_eq!(json.status, 201, "{}", json.text);
    // Other companies still have space: this request is refused by a business rule.
    let other = other_company(&sandbox).await;
    let form = Form::of(&offer_body(&sandbox, "NF-OTHER")).file("nota.pdf", PDF, &content);
    let answer = other.post_form(PRE_AUTHORIZATIONS, &[], form).await;
    let no_credit = "CREDIT_ANALYSIS_INVOICE_AMOUNT_EXCEEDED".to_owned();
    assert_eq!(answer.refusal(), (422, no_credit));
    drop(uploads);
    // Closed connections are noticed one by one.
    while post_until(&sandbox, "NF-LAST", &content, 201)
        .await
        .is_none()
    {}
}

/// Has 15 uploads in progress, each with its whole file sent and its end outstanding. The server gives up
/// one that stalls for too long; it is replaced.
async fn keep_up(sandbox: &Sandbox, uploads: &mut Vec<TcpStream>, content: &[u8]) {
    const UPLOADS: usize = 15;
    uploads.retain(|upload| {
        let has_answer = upload.try_read(&mut [0]);
        has_answer.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    });
    // Side by side, so that none stalls while others are sent.
    let missing = (uploads.len()..UPLOADS).map(async |n| {
        let mut upload = begin_upload(sandbox, &format!("NF-{n}")).await;
        // Given up already: replaced the next time.
        let _ = upload.write_all(content).await;
        upload
    });
    uploads.extend(join_all(missing).await);
}

/// The answer to an upload, if it has the `expected` status. A refused upload that is still being sent may
/// lose its answer with its connection.
async fn post_until(
    sandbox: &Sandbox,
    number: &str,
    content: &[u8],
    expected: u16,
) -> Option<Answer> {
    let form = Form::of(&offer_body(sandbox, number)).file("nota.pdf", PDF, content);
    let (content_type, erp) = (Form::content_type(), sandbox.caller("apiKey"));
    let headers = [("content-type", content_type.as_str())];
    let sent = erp.try_send(
        Method::POST,
        PRE_AUTHORIZATIONS,
        &headers,
        Some(form.bytes()),
    );
    let answer = sent.await.ok()?;
    // Room was free: created, or created before.
    let is_possible = [201, 409, 503].contains(&answer.status);
    assert!(is_possible, "{}: {}", answer.status, answer.text);
    (answer.status == expected).then_some(answer)
}

// Contract: error-code-of-ours/REQUEST_TIMEOUT
async fn an_upload_that_stalls_is_given_up(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut stream = begin_upload(&sandbox, "NF-1").await;
    let mut answer = String::new();
    // One test in real time: the timers themselves are tested in `http/server/connection.rs`.
    let answered = stream.read_to_string(&mut answer);
    let answered = tokio::time::timeout(Duration::from_secs(55), answered).await;
    answered.expect("before the 60 s of any body").unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("REQUEST_TIMEOUT"), "{answer}");
    assert_eq!(sandbox.names_in("uploads"), Vec::<String>::new());
}
