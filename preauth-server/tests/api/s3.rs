//! Invoice files in S3-compatible storage: a fake that keeps objects in memory and implements the
//! part of S3 that storing files needs.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_core::value::Cnpj;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{
    Backend, Form, Home, RawCaller, Sandbox, Server, offer_body, on_each_database, server_program,
};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

on_each_database! {
    files_are_kept_in_a_bucket_and_come_back,
    an_upload_in_parts_that_fails_at_its_end_is_aborted,
    a_key_that_is_revoked_while_a_file_is_stored_creates_nothing,
    a_storage_that_stalls_delays_nobody_for_long_who_waits_behind_it,
}

const TOKEN: &str = "0123456789abcdef";

/// Objects by path.
#[derive(Clone, Default)]
struct Bucket(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Vec<u8>>,
    /// The parts of a multipart upload.
    parts: BTreeMap<u32, Vec<u8>>,
    /// The number of multipart uploads that were aborted.
    aborted: usize,
    /// Whether every request is answered with 403, and whether those are that complete an upload.
    refuses: bool,
    completes_none: bool,
    /// How long every answer takes.
    takes: Duration,
    /// Whether no answer is given, and how many requests wait for theirs.
    stalls: bool,
    stalled: usize,
}

impl Respond for Bucket {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut state = self.0.lock().unwrap();
        if state.refuses {
            return ResponseTemplate::new(403);
        }
        if state.stalls {
            state.stalled += 1;
            return ResponseTemplate::new(403).set_delay(Duration::from_hours(1));
        }
        let takes = state.takes;
        answer(&mut state, request).set_delay(takes)
    }
}

fn answer(state: &mut State, request: &Request) -> ResponseTemplate {
    let path = request.url.path().to_owned();
    let queries: BTreeMap<String, String> = request.url.query_pairs().into_owned().collect();
    let part = queries.get("partNumber");
    match (request.method.as_str(), part) {
        ("PUT", Some(number)) => {
            let number = number.parse().unwrap();
            state.parts.insert(number, request.body.clone());
            ResponseTemplate::new(200).insert_header("etag", "\"part\"")
        }
        ("PUT", None) => {
            state.objects.insert(path, request.body.clone());
            ResponseTemplate::new(200).insert_header("etag", "\"whole\"")
        }
        ("POST", _) if queries.contains_key("uploads") => xml(
            "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>",
        ),
        ("POST", _) if state.completes_none => ResponseTemplate::new(403),
        ("DELETE", _) if queries.contains_key("uploadId") => {
            state.aborted += 1;
            ResponseTemplate::new(204)
        }
        ("POST", _) => {
            let parts = std::mem::take(&mut state.parts);
            let whole = parts.into_values().flatten().collect();
            state.objects.insert(path, whole);
            xml(
                "<CompleteMultipartUploadResult><ETag>\"all\"</ETag></CompleteMultipartUploadResult>",
            )
        }
        _ => match state.objects.get(&path) {
            Some(object) => ResponseTemplate::new(200)
                .insert_header("etag", "\"whole\"")
                .insert_header("last-modified", "Sat, 21 Nov 2026 12:00:00 GMT")
                .set_body_bytes(object.clone()),
            None => ResponseTemplate::new(404),
        },
    }
}

fn xml(text: &str) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_raw(text.as_bytes(), "application/xml")
}

#[tokio::test]
async fn a_bucket_without_credentials_is_warned_of_at_the_start() {
    let mut program = Command::new(server_program());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("AWS_")) {
        program.env_remove(name);
    }
    let home = Home::new(Backend::Sqlite).await;
    let settings = [("PREAUTH_FILES_PLACE", "s3://bucket/invoices")];
    let server = Server::start_program(program, home, TOKEN, &settings).await;
    let log = server.log();
    for part in [
        "s3://bucket/invoices",
        "AWS_ACCESS_KEY_ID",
        "`preauth-server doctor`",
    ] {
        assert!(log.contains(part), "{part:?} in {log}");
    }
}

/// A server whose files lie in the bucket, and the body of an offer to it.
async fn served(
    backend: Backend,
    storage: &MockServer,
    bucket: &Bucket,
) -> (Server, Value, String) {
    let answers = Mock::given(any()).respond_with(bucket.clone());
    answers.mount(storage).await;
    let sandbox = Sandbox::start(backend).await;
    let key = sandbox.text("apiKey").to_owned();
    let offer = offer_body(&sandbox, "NF-0");
    let settings = [
        ("PREAUTH_FILES_PLACE", "s3://bucket/invoices"),
        ("AWS_ENDPOINT", &storage.uri()),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
    ];
    let server = Server::start_with(sandbox.kill(), TOKEN, &settings).await;
    assert!(!server.log().contains("AWS_ACCESS_KEY_ID"));
    (server, offer, key)
}

async fn files_are_kept_in_a_bucket_and_come_back(backend: Backend) {
    let (storage, bucket) = (MockServer::start().await, Bucket::default());
    let (server, offer, key) = served(backend, &storage, &bucket).await;
    let offers = ["NF-0", "NF-1", "NF-2"].map(|number| numbered(&offer, number));
    let erp = RawCaller::new(&server.base_url, Some(&key));
    let platform = RawCaller::new(&server.platform_url, Some(TOKEN));
    // The larger one is uploaded in two parts.
    for (offer, length) in offers.iter().zip([1_000, 6 * 1024 * 1024]) {
        let content = [b"%PDF-1.7", vec![b'x'; length].as_slice()].concat();
        let form = Form::of(offer).file("a.pdf", "application/pdf", &content);
        let created = erp.post_form(PRE_AUTHORIZATIONS, &[], form).await;
        assert_eq!(created.status, 201, "{} {}", created.text, server.log());
        let operation = format!("/api/platform/v1/operations/{}", created.json()["id"]);
        let shown = platform.get(&operation).await.json();
        let hash = shown["invoiceFile"]["sha256"].as_str().unwrap();
        let path = format!("/bucket/invoices/{}/{hash}", &hash[..2]);
        assert!(bucket.0.lock().unwrap().objects[&path] == content);
        let file = format!("{operation}/invoice-file");
        let (_, bytes) = platform.get_bytes(&file).await;
        assert!(bytes == content, "{} bytes came back", bytes.len());
    }
    let send = async || {
        let form = Form::of(&offers[2]).file("a.pdf", "application/pdf", b"%PDF-2");
        erp.post_form(PRE_AUTHORIZATIONS, &[], form).await
    };
    bucket.0.lock().unwrap().refuses = true;
    let expected = (500, "INTERNAL_ERROR".to_owned());
    assert_eq!(send().await.refusal(), expected);
    let listed = erp.get(PRE_AUTHORIZATIONS).await;
    assert_eq!(listed.json()["pagination"]["total"], 2);
    bucket.0.lock().unwrap().refuses = false;
    assert_eq!(send().await.status, 201);
}

/// The storage keeps the parts of an upload that is not completed, which cost money.
async fn an_upload_in_parts_that_fails_at_its_end_is_aborted(backend: Backend) {
    let (storage, bucket) = (MockServer::start().await, Bucket::default());
    let (server, offer, key) = served(backend, &storage, &bucket).await;
    bucket.0.lock().unwrap().completes_none = true;
    let length = 6 * 1024 * 1024;
    let content = [b"%PDF-1.7", vec![b'x'; length].as_slice()].concat();
    let form = Form::of(&offer).file("a.pdf", "application/pdf", &content);
    let erp = RawCaller::new(&server.base_url, Some(&key));
    let refused = erp.post_form(PRE_AUTHORIZATIONS, &[], form).await;
    assert_eq!(refused.refusal(), (500, "INTERNAL_ERROR".to_owned()));
    while bucket.0.lock().unwrap().aborted < 1 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Storing takes longer than the time for which a key that was looked up counts as valid.
async fn a_key_that_is_revoked_while_a_file_is_stored_creates_nothing(backend: Backend) {
    let (storage, bucket) = (MockServer::start().await, Bucket::default());
    let (server, offer, key) = served(backend, &storage, &bucket).await;
    let platform = RawCaller::new(&server.platform_url, Some(TOKEN));
    let search = "/api/platform/v1/api-key-search";
    let found = platform.post_json(search, &json!({"text": key})).await;
    let id = found.json()["data"][0]["id"].as_str().unwrap().to_owned();
    bucket.0.lock().unwrap().takes = Duration::from_secs(2);
    let erp = RawCaller::new(&server.base_url, Some(&key));
    let form = Form::of(&offer).file("a.pdf", "application/pdf", b"%PDF-1.7");
    let revoking = async {
        tokio::time::sleep(Duration::from_millis(700)).await;
        let path = format!("/api/platform/v1/api-keys/{id}");
        platform.send(Method::DELETE, &path, &[], None).await
    };
    let (created, revoked) = tokio::join!(erp.post_form(PRE_AUTHORIZATIONS, &[], form), revoking);
    assert_eq!(revoked.status, 204, "{}", revoked.text);
    assert_eq!(created.status, 401, "{}", created.text);
    let operations = platform.get("/api/platform/v1/operations").await;
    assert_eq!(operations.json()["pagination"]["total"], 0);
}

fn numbered(offer: &Value, number: &str) -> Value {
    let mut offer = offer.clone();
    offer["invoice"]["number"] = number.into();
    offer
}

/// The same offer to another supplier.
fn to_supplier(offer: &Value, n: u32) -> Value {
    let base = format!("{:08}0001", 50_000_000 + n);
    let spelled = |check: u32| Cnpj::parse(&format!("{base}{check:02}"));
    let cnpj = (0..100).find_map(|check| spelled(check).ok()).unwrap();
    let mut offer = numbered(offer, &format!("NF-{n}"));
    offer["supplier"]["cnpj"] = cnpj.as_str().into();
    offer["supplier"]["name"] = "Fornecedora".into();
    offer["supplier"]["contactName"] = "Ana".into();
    offer
}

/// As many files as are stored at once wait for the storage. Another one, and another offer to the
/// supplier of one of them, are refused meanwhile; a file that is none is refused as such.
async fn a_storage_that_stalls_delays_nobody_for_long_who_waits_behind_it(backend: Backend) {
    let (storage, bucket) = (MockServer::start().await, Bucket::default());
    let (server, offer, key) = served(backend, &storage, &bucket).await;
    bucket.0.lock().unwrap().stalls = true;
    let send = |offer: Value, content: &'static [u8]| {
        let erp = RawCaller::new(&server.base_url, Some(&key));
        tokio::spawn(async move {
            let form = Form::of(&offer).file("a.pdf", "application/pdf", content);
            erp.post_form(PRE_AUTHORIZATIONS, &[], form).await.refusal()
        })
    };
    let stuck: Vec<_> = (0..4)
        .map(|n| send(to_supplier(&offer, n), b"%PDF-1.7"))
        .collect();
    while bucket.0.lock().unwrap().stalled < 4 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let waiting = [
        send(to_supplier(&offer, 4), b"%PDF-1.7"),
        send(numbered(&to_supplier(&offer, 0), "NF-9"), b"%PDF-1.7"),
    ];
    let is_none = send(to_supplier(&offer, 5), b"no such thing")
        .await
        .unwrap();
    assert_eq!(is_none, (422, "INVALID_FILE_TYPE".to_owned()));
    for refused in waiting {
        let expected = (503, "SERVICE_UNAVAILABLE".to_owned());
        assert_eq!(refused.await.unwrap(), expected);
    }
    let ended = stuck.iter().filter(|it| it.is_finished()).count();
    assert_eq!(ended, 0, "the storage has not answered");
}
