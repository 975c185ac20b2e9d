//! Invoice files: uploaded with a create, stored, and downloaded through the platform API.

use std::sync::Arc;
use std::time::Duration;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_client::{FileType, InvoiceFile, NewPreAuthorization};
use preauth_core::value::{DueDate, Money};
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{
    Answer, Backend, Form, RawCaller, Sandbox, Server, connect, due_date, offer_body,
    on_each_database, with,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::strangers::other_company;

on_each_database! {
    a_file_comes_back_from_the_platform_byte_for_byte,
    a_file_sent_by_the_client_keeps_its_name_and_content,
    a_form_without_a_file_is_a_create_like_any_other,
    a_replay_needs_the_same_file,
    ten_megabytes_are_taken_and_not_a_byte_more,
    a_file_that_never_ends_is_refused_as_soon_as_it_is_too_large,
    a_client_that_stops_in_the_middle_leaves_nothing,
    a_kill_in_the_middle_leaves_nothing,
    a_full_disk_creates_nothing_leaves_nothing_and_the_next_request_works,
    a_place_that_fails_creates_nothing_and_may_come_back,
    uploads_that_only_announce_their_length_hold_no_room,
    uploads_wait_for_room_and_creates_without_a_file_do_not,
    an_upload_that_stalls_is_given_up,
    a_refused_create_keeps_no_file,
    of_creates_with_a_file_for_one_invoice_only_one_keeps_it,
    files_beyond_the_quota_are_refused,
    concurrent_uploads_do_not_exceed_the_quota_together,
}

const PDF: &str = "application/pdf";
const FILE_LIMIT_BYTES: usize = 10 * 1024 * 1024;
/// Maximum size of a request body: space is reserved for all of it.
const BODY_LIMIT_BYTES: usize = FILE_LIMIT_BYTES + 512 * 1024;

/// A file of this length that looks like a PDF, with bytes of every value.
fn pdf(length: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_u32;
    let noise = std::iter::repeat_with(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    });
    b"%PDF-1.7\n"
        .iter()
        .copied()
        .chain(noise)
        .take(length)
        .collect()
}

async fn post(sandbox: &Sandbox, number: &str, content: &[u8]) -> Answer {
    let form = Form::of(&offer_body(sandbox, number)).file("nota.pdf", PDF, content);
    let erp = sandbox.caller("apiKey");
    erp.post_form(PRE_AUTHORIZATIONS, &[], form).await
}

async fn operations(sandbox: &Sandbox) -> Value {
    let listed = sandbox
        .platform()
        .get("/api/platform/v1/operations?limit=1")
        .await;
    listed.json()["pagination"]["total"].clone()
}

/// The head of a create with a form, and its body up to the file's content.
fn beginning(sandbox: &Sandbox, number: &str, framing: &str) -> Vec<u8> {
    let form = Form::of(&offer_body(sandbox, number)).file("nota.pdf", PDF, b"%PDF-1.7");
    let mut body = form.bytes();
    let content = body
        .windows(5)
        .position(|window| window == b"%PDF-")
        .unwrap();
    body.truncate(content);
    let head = format!(
        "POST {PRE_AUTHORIZATIONS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: {}\r\n{framing}\r\n\r\n",
        sandbox.text("apiKey"),
        Form::content_type(),
    );
    if framing.starts_with("Transfer-Encoding") {
        let size = format!("{:x}\r\n", body.len());
        body.splice(0..0, size.into_bytes());
        body.extend_from_slice(b"\r\n");
    }
    [head.into_bytes(), body].concat()
}

async fn begin_upload(sandbox: &Sandbox, number: &str) -> TcpStream {
    let mut stream = connect(sandbox.text("baseUrl")).await;
    let length = format!("Content-Length: {BODY_LIMIT_BYTES}");
    let bytes = beginning(sandbox, number, &length);
    stream.write_all(&bytes).await.unwrap();
    stream
}

// Contract: create-file/parts
async fn a_file_comes_back_from_the_platform_byte_for_byte(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let (erp, platform) = (sandbox.caller("apiKey"), sandbox.platform());
    let body = with(
        offer_body(&sandbox, "NF-1"),
        "/externalReference",
        json!("PEDIDO-1"),
    );
    let content = pdf(300_001);
    let form = Form::of(&body).file(
        "../nota não.pdf",
        "Application/PDF; charset=binary",
        &content,
    );
    let created = erp.post_form(PRE_AUTHORIZATIONS, &[], form).await;
    assert_eq!(created.status, 201, "{}", created.text);
    assert_eq!(created.json()["externalReference"], "PEDIDO-1");
    let found = erp.get(&format!("{PRE_AUTHORIZATIONS}/1")).await;
    assert_eq!(found.text, created.text);
    let shown = platform.get("/api/platform/v1/operations/1").await.json();
    let file = &shown["invoiceFile"];
    assert_eq!(file["name"], "../nota não.pdf");
    assert_eq!(
        (&file["mediaType"], &file["size"]),
        (&json!(PDF), &json!(300_001))
    );
    let path = "/api/platform/v1/operations/1/invoice-file";
    let (headers, bytes) = platform.get_bytes(path).await;
    assert!(bytes == content, "{} bytes came back", bytes.len());
    for (name, value) in [
        ("content-type", PDF),
        ("content-length", "300001"),
        ("x-content-type-options", "nosniff"),
        (
            "content-disposition",
            "attachment; filename=\".._nota n_o.pdf\"; filename*=UTF-8''.._nota%20n%C3%A3o.pdf",
        ),
    ] {
        assert_eq!(headers[name], value, "{name}");
    }
    let head = platform.send(Method::HEAD, path, &[], None).await;
    assert_eq!((head.status, head.text.as_str()), (200, ""));
    assert_eq!(head.header("content-length"), "300001");
    // The same content again is stored once.
    assert_eq!(post(&sandbox, "NF-2", &content).await.status, 201);
    let again = platform
        .get_bytes("/api/platform/v1/operations/2/invoice-file")
        .await;
    assert!(again.1 == content);
    let folders = sandbox.names_in("invoice-files");
    assert_eq!(folders.len(), 1);
    let files = sandbox.names_in(&format!("invoice-files/{}", folders[0]));
    assert_eq!(files, [file["sha256"].as_str().unwrap()]);
}

async fn a_file_sent_by_the_client_keeps_its_name_and_content(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let content = pdf(12_345);
    let name = "nota \"não\" \\ 100% 🙂.pdf";
    let file = InvoiceFile::from_bytes(name, FileType::Pdf, content.clone()).unwrap();
    let offer = NewPreAuthorization::new(
        sandbox.text("supplierCnpj").parse().unwrap(),
        "financeiro@fornecedor.example.com".parse().unwrap(),
        Money::from_cents(1_250_050).unwrap(),
        DueDate::from_date(due_date(60)).unwrap(),
        "NF-1".parse().unwrap(),
    );
    sandbox.client().create(&offer.file(file)).await.unwrap();
    let platform = sandbox.platform();
    let shown = platform.get("/api/platform/v1/operations/1").await.json();
    assert_eq!(shown["invoiceFile"]["name"], name);
    let path = "/api/platform/v1/operations/1/invoice-file";
    assert!(platform.get_bytes(path).await.1 == content);
}

// Contract: service/multipart
async fn a_form_without_a_file_is_a_create_like_any_other(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let (erp, platform) = (sandbox.caller("apiKey"), sandbox.platform());
    let body = offer_body(&sandbox, "NF-1");
    let key = [("idempotency-key", "pedido-0001")];
    let created = erp
        .post_form(PRE_AUTHORIZATIONS, &key, Form::of(&body))
        .await;
    assert_eq!(created.status, 201, "{}", created.text);
    // The same request as JSON is a replay.
    let replayed = erp
        .post_text(PRE_AUTHORIZATIONS, &key, body.to_string())
        .await;
    assert_eq!(replayed.header("idempotency-replayed"), "true");
    assert_eq!(replayed.text, created.text);
    let shown = platform.get("/api/platform/v1/operations/1").await.json();
    assert_eq!(shown["invoiceFile"], Value::Null);
    let file = platform
        .get("/api/platform/v1/operations/1/invoice-file")
        .await;
    assert_eq!(file.refusal(), (404, "RESOURCE_NOT_FOUND".to_owned()));
    let none = platform
        .get("/api/platform/v1/operations/9/invoice-file")
        .await;
    assert_eq!(none.refusal(), (404, "ANTICIPATION_NOT_FOUND".to_owned()));
}

async fn a_replay_needs_the_same_file(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let erp = sandbox.caller("apiKey");
    let send = async |name: &str, media_type: &str, content: &[u8]| {
        let form = Form::of(&offer_body(&sandbox, "NF-1")).file(name, media_type, content);
        let key = [("idempotency-key", "pedido-0001")];
        erp.post_form(PRE_AUTHORIZATIONS, &key, form).await
    };
    // An XML document that also passes for a PDF.
    let content = b"<a>%PDF-</a>";
    let first = send("a", "text/xml", content).await;
    assert_eq!(first.status, 201, "{}", first.text);
    let again = send("a", "TEXT/xml; charset=utf-8", content).await;
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.text, first.text);
    for (name, media_type, content) in [
        ("b", "text/xml", &content[..]),
        ("a", "application/xml", content),
        ("a", PDF, content),
        ("a", "text/xml", b"<a>%PDF-<b/></a>"),
    ] {
        let other = send(name, media_type, content).await;
        let expected = (409, "IDEMPOTENCY_KEY_REUSED".to_owned());
        assert_eq!(other.refusal(), expected, "{name} {media_type}");
    }
    assert_eq!(operations(&sandbox).await, 1);
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

async fn a_client_that_stops_in_the_middle_leaves_nothing(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut stream = begin_upload(&sandbox, "NF-1").await;
    stream.write_all(&pdf(5 * 1024 * 1024)).await.unwrap();
    drop(stream);
    // A client that closes only its sending side gets an answer: the body was interrupted.
    let mut stream = begin_upload(&sandbox, "NF-1").await;
    stream.write_all(&pdf(1024 * 1024)).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(answer.contains("BAD_REQUEST"), "{answer}");
    assert_eq!(operations(&sandbox).await, 0);
    assert_eq!(sandbox.names_in("uploads"), Vec::<String>::new());
    assert_eq!(sandbox.names_in("invoice-files"), Vec::<String>::new());
    assert_eq!(post(&sandbox, "NF-1", &pdf(1000)).await.status, 201);
}

async fn a_kill_in_the_middle_leaves_nothing(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let mut stream = begin_upload(&sandbox, "NF-1").await;
    stream.write_all(&pdf(5 * 1024 * 1024)).await.unwrap();
    let sandbox = Sandbox::start_in(sandbox.kill(), &[]).await;
    assert_eq!(operations(&sandbox).await, 0);
    assert_eq!(sandbox.names_in("uploads"), Vec::<String>::new());
    assert_eq!(post(&sandbox, "NF-1", &pdf(1000)).await.status, 201);
}

async fn a_full_disk_creates_nothing_leaves_nothing_and_the_next_request_works(backend: Backend) {
    let sandbox = Sandbox::start_on_a_small_disk(backend, 6 * 1024).await;
    let refused = post(&sandbox, "NF-1", &pdf(8 * 1024 * 1024)).await;
    assert_eq!(refused.refusal(), (500, "INTERNAL_ERROR".to_owned()));
    assert!(
        sandbox.log().contains("could not be kept"),
        "{}",
        sandbox.log()
    );
    assert_eq!(operations(&sandbox).await, 0);
    assert_eq!(sandbox.names_in("uploads"), Vec::<String>::new());
    assert_eq!(sandbox.names_in("invoice-files"), Vec::<String>::new());
    let created = post(&sandbox, "NF-1", &pdf(100_000)).await;
    assert_eq!(created.status, 201, "{}", created.text);
}

async fn a_place_that_fails_creates_nothing_and_may_come_back(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let place = sandbox.data().join("invoice-files");
    let away = sandbox.data().join("away");
    std::fs::rename(&place, &away).unwrap();
    std::fs::write(&place, "no folder").unwrap();
    let refused = post(&sandbox, "NF-1", &pdf(1000)).await;
    assert_eq!(refused.refusal(), (500, "INTERNAL_ERROR".to_owned()));
    assert_eq!(operations(&sandbox).await, 0);
    std::fs::remove_file(&place).unwrap();
    std::fs::rename(&away, &place).unwrap();
    let created = post(&sandbox, "NF-1", &pdf(1000)).await;
    assert_eq!(created.status, 201, "{}", created.text);
    // A missing file is an internal error, never the caller's.
    std::fs::remove_dir_all(&place).unwrap();
    let id = &created.json()["id"];
    let path = format!("/api/platform/v1/operations/{id}/invoice-file");
    let file = sandbox.platform().get(&path).await;
    assert_eq!(file.refusal(), (500, "INTERNAL_ERROR".to_owned()));
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
    for n in 0..15 {
        let mut stream = begin_upload(&sandbox, &format!("NF-{n}")).await;
        stream.write_all(&content).await.unwrap();
        uploads.push(stream);
    }
    // A company may use a quarter of the upload space; what is left of it is less than a file
    // needs.
    let full = post(&sandbox, "NF-FULL", &content).await;
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
    let mut answer = post(&sandbox, "NF-LAST", &content).await;
    while answer.status == 503 {
        answer = post(&sandbox, "NF-LAST", &content).await;
    }
    assert_eq!(answer.status, 201, "{}", answer.text);
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

#[expect(clippy::too_many_lines, reason = "one story")]
async fn a_refused_create_keeps_no_file(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let erp = sandbox.caller("apiKey");
    let send = async |body: &Value, key: &str, name: &str, length: usize| {
        let form = Form::of(body).file(name, PDF, &pdf(length));
        let key = [("idempotency-key", key)];
        erp.post_form(PRE_AUTHORIZATIONS, &key, form).await
    };
    let good = offer_body(&sandbox, "NF-1");
    let first = send(&good, "pedido-0001", "nota.pdf", 1_000).await;
    assert_eq!(first.status, 201, "{}", first.text);
    let kept = files_in(&sandbox);
    assert_eq!(kept.len(), 1);
    let other = offer_body(&sandbox, "NF-2");
    let company = json!(sandbox.text("companyCnpj"));
    let cases = [
        (good.clone(), "pedido-0002", "PRE_AUTH_DUPLICATE_INVOICE"),
        (good.clone(), "pedido-0001", "IDEMPOTENCY_KEY_REUSED"),
        (other.clone(), "pedido", "IDEMPOTENCY_KEY_INVALID"),
        (
            with(other.clone(), "/invoice/amount", json!(1)),
            "pedido-0003",
            "VALIDATION_ERROR",
        ),
        (
            with(
                other.clone(),
                "/invoice/dueDate",
                json!(due_date(2).to_string()),
            ),
            "pedido-0004",
            "ANTICIPATION_INVALID_DUE_DATE",
        ),
        (
            with(other.clone(), "/supplier/cnpj", company),
            "pedido-0005",
            "PRE_AUTH_SUPPLIER_SELF",
        ),
        (
            with(other.clone(), "/invoice/amount", json!(9_999_999)),
            "pedido-0006",
            "CREDIT_ANALYSIS_INVOICE_AMOUNT_EXCEEDED",
        ),
        (
            with(
                other.clone(),
                "/invoice/number",
                json!("sandbox:PRE_AUTH_SUPPLIER_BLOCKED"),
            ),
            "pedido-0007",
            "PRE_AUTH_SUPPLIER_BLOCKED",
        ),
    ];
    sandbox.limit_credit(180, 1_000_000).await;
    for (length, (body, key, code)) in (2_000..).zip(&cases) {
        let refused = send(body, key, "nota.pdf", length).await;
        assert_eq!(refused.code(), *code, "{}", refused.text);
    }
    for caller in ["branchApiKey", "readOnlyApiKey", "revokedApiKey"] {
        let form = Form::of(&other).file("nota.pdf", PDF, &pdf(3_000));
        let refused = sandbox
            .caller(caller)
            .post_form(PRE_AUTHORIZATIONS, &[], form)
            .await;
        assert!([401, 403].contains(&refused.status), "{caller}");
    }
    assert_eq!(files_in(&sandbox), kept);
    assert_eq!(sandbox.names_in("uploads"), Vec::<String>::new());
    let replayed = send(&good, "pedido-0001", "nota.pdf", 1_000).await;
    assert_eq!(replayed.text, first.text);
    assert_eq!(
        send(&other, "pedido-0008", "nota.pdf", 4_000).await.status,
        201
    );
    assert_eq!(files_in(&sandbox).len(), 2);
}

/// The names of all stored files.
fn files_in(sandbox: &Sandbox) -> Vec<String> {
    let folders = sandbox.names_in("invoice-files").into_iter();
    folders
        .flat_map(|folder| sandbox.names_in(&format!("invoice-files/{folder}")))
        .collect()
}

async fn of_creates_with_a_file_for_one_invoice_only_one_keeps_it(backend: Backend) {
    let sandbox = Arc::new(Sandbox::start(backend).await);
    let mut creates = JoinSet::new();
    for length in 1_000..1_020 {
        let sandbox = Arc::clone(&sandbox);
        creates.spawn(async move { post(&sandbox, "NF-1", &pdf(length)).await.status });
    }
    let mut statuses = creates.join_all().await;
    statuses.sort_unstable();
    assert_eq!(statuses.remove(0), 201);
    assert!(statuses.iter().all(|status| *status == 409), "{statuses:?}");
    assert_eq!(files_in(&sandbox).len(), 1);
}

const TOKEN: &str = "operator-token-of-the-tests";

/// A server with a quota of 10 MiB of files per head office, the body of an offer, and a caller.
async fn with_a_quota(backend: Backend) -> (Server, Value, RawCaller) {
    let sandbox = Sandbox::start(backend).await;
    let (key, offer) = (
        sandbox.text("apiKey").to_owned(),
        offer_body(&sandbox, "NF"),
    );
    let quota = [
        ("PREAUTH_FILES_QUOTA_GIB", "0.010"),
        ("PREAUTH_RATE_LIMIT_REQUESTS", "1000"),
    ];
    let server = Server::start_with(sandbox.kill(), TOKEN, &quota).await;
    let erp = RawCaller::new(&server.base_url, Some(&key));
    (server, offer, erp)
}

async fn post_to(erp: &RawCaller, offer: &Value, number: &str, content: &[u8]) -> Answer {
    let body = with(offer.clone(), "/invoice/number", json!(number));
    let form = Form::of(&body).file("nota.pdf", PDF, content);
    erp.post_form(PRE_AUTHORIZATIONS, &[], form).await
}

async fn near_quota(server: &Server) -> String {
    let operator = RawCaller::new(&server.platform_url, Some(TOKEN));
    let metrics = operator.get("/metrics").await.text;
    let line = metrics
        .lines()
        .find(|line| line.starts_with("preauth_file_quota_near_head_offices "));
    line.unwrap().to_owned()
}

// Contract: error-code-of-ours/FILE_QUOTA_EXCEEDED
async fn files_beyond_the_quota_are_refused(backend: Backend) {
    let (server, offer, erp) = with_a_quota(backend).await;
    let (large, small) = (pdf(4 * 1024 * 1024), pdf(2 * 1024 * 1024));
    assert_eq!(post_to(&erp, &offer, "NF-1", &large).await.status, 201);
    assert!(near_quota(&server).await.ends_with(" 0"));
    assert_eq!(post_to(&erp, &offer, "NF-2", &large).await.status, 201);
    let refused = post_to(&erp, &offer, "NF-3", &large).await;
    assert_eq!(refused.refusal(), (422, "FILE_QUOTA_EXCEEDED".to_owned()));
    // A request refused for another reason, and a file that is already stored, need no quota.
    let duplicate = post_to(&erp, &offer, "NF-2", &large).await;
    assert_eq!(duplicate.code(), "PRE_AUTH_DUPLICATE_INVOICE");
    assert_eq!(post_to(&erp, &offer, "NF-3", &small).await.status, 201);
    assert!(near_quota(&server).await.ends_with(" 1"));
    let body = with(offer.clone(), "/invoice/number", json!("NF-4"));
    assert_eq!(erp.post_json(PRE_AUTHORIZATIONS, &body).await.status, 201);
}

// Contract: error-code-of-ours/FILE_QUOTA_EXCEEDED
async fn concurrent_uploads_do_not_exceed_the_quota_together(backend: Backend) {
    let (_server, offer, erp) = with_a_quota(backend).await;
    let mut uploads = JoinSet::new();
    for n in 0..12 {
        let (erp, offer) = (erp.clone(), offer.clone());
        let mut content = pdf(3 * 1024 * 1024);
        content.push(n);
        uploads.spawn(async move {
            let answer = post_to(&erp, &offer, &format!("NF-{n}"), &content).await;
            (answer.status, answer.code())
        });
    }
    let outcomes = uploads.join_all().await;
    let created = outcomes.iter().filter(|outcome| outcome.0 == 201).count();
    assert_eq!(created, 3, "{outcomes:?}");
    let refused = (422, "FILE_QUOTA_EXCEEDED".to_owned());
    assert!(
        outcomes.iter().all(|it| it.0 == 201 || *it == refused),
        "{outcomes:?}"
    );
}
