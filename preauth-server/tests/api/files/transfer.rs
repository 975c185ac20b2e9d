//! A file sent with a create is returned unchanged.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_client::{FileType, InvoiceFile, NewPreAuthorization};
use preauth_core::value::{DueDate, Money};
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{Backend, Form, Sandbox, due_date, offer_body, on_each_database, with};

use super::{PDF, operations, pdf, post};

on_each_database! {
    a_file_comes_back_from_the_platform_byte_for_byte,
    a_file_sent_by_the_client_keeps_its_name_and_content,
    a_form_without_a_file_is_a_create_like_any_other,
    a_replay_needs_the_same_file,
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
    let second = post(&sandbox, "NF-2", &content).await;
    assert_eq!(second.status, 201);
    let path = format!(
        "/api/platform/v1/operations/{}/invoice-file",
        second.json()["id"]
    );
    let again = platform.get_bytes(&path).await;
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
