//! Invoice files: uploaded with a create, stored, and downloaded through the platform API.

mod limits;
mod quota;
mod refused;
mod transfer;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use serde_json::Value;
use test_support::{Answer, Form, Sandbox, connect, offer_body};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

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

/// The names of all stored files.
fn files_in(sandbox: &Sandbox) -> Vec<String> {
    let folders = sandbox.names_in("invoice-files").into_iter();
    folders
        .flat_map(|folder| sandbox.names_in(&format!("invoice-files/{folder}")))
        .collect()
}
