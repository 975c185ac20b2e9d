//! `doctor`, when the invoice files are in a bucket: an object is written, read and removed again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use test_support::Backend;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::doctor::{Machine, failed, line};

/// What the bucket refuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Refusal {
    #[default]
    Nothing,
    Everything,
    Reads,
    Removals,
}

type Objects = BTreeMap<String, Vec<u8>>;

/// Objects by path.
#[derive(Clone, Default)]
struct Bucket(Arc<Mutex<(Refusal, Objects)>>);

impl Respond for Bucket {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut state = self.0.lock().unwrap();
        let (refusal, objects) = &mut *state;
        let path = request.url.path().to_owned();
        let is_removal = request.url.query() == Some("delete");
        match (request.method.as_str(), *refusal) {
            (_, Refusal::Everything) | ("GET", Refusal::Reads) => ResponseTemplate::new(403),
            ("PUT", _) => {
                objects.insert(path, request.body.clone());
                ResponseTemplate::new(200).insert_header("etag", "\"whole\"")
            }
            ("POST", refusal) if is_removal => {
                let body = String::from_utf8(request.body.clone()).unwrap();
                let (_, rest) = body.split_once("<Key>").unwrap();
                let (key, _) = rest.split_once("</Key>").unwrap();
                let outcome = if refusal == Refusal::Removals {
                    format!(
                        "<Error><Key>{key}</Key><Code>AccessDenied</Code><Message>no</Message></Error>"
                    )
                } else {
                    objects.remove(&format!("/bucket/{key}")).unwrap();
                    format!("<Deleted><Key>{key}</Key></Deleted>")
                };
                let body = format!("<DeleteResult>{outcome}</DeleteResult>");
                ResponseTemplate::new(200).set_body_raw(body, "application/xml")
            }
            _ => match objects.get(&path) {
                Some(object) => ResponseTemplate::new(200)
                    .insert_header("etag", "\"whole\"")
                    .insert_header("last-modified", "Sat, 21 Nov 2026 12:00:00 GMT")
                    .set_body_bytes(object.clone()),
                None => ResponseTemplate::new(404),
            },
        }
    }
}

#[tokio::test]
async fn a_bucket_is_written_read_and_left_as_it_was() {
    let (storage, bucket) = (MockServer::start().await, Bucket::default());
    let answers = Mock::given(any()).respond_with(bucket.clone());
    answers.mount(&storage).await;
    let mut machine = Machine::new(Backend::Sqlite).await;
    machine.set("PREAUTH_FILES_PLACE", "s3://bucket/invoices");
    machine.set("AWS_ENDPOINT", storage.uri());
    machine.set("AWS_ALLOW_HTTP", "true");
    machine.set("AWS_ACCESS_KEY_ID", "id-of-the-key");
    machine.set("AWS_SECRET_ACCESS_KEY", "secret-of-the-key");
    let objects = bucket.clone();
    // The command blocks this thread.
    let tried = tokio::task::spawn_blocking(move || {
        let done = machine.doctor(&[]);
        assert_eq!(done.code, 0, "{}", done.out);
        line(&done, "object store", "written, read and removed");
        assert!(
            objects.0.lock().unwrap().1.is_empty(),
            "the probe is removed"
        );
        for (refusal, part) in [
            (Refusal::Everything, "no object can be written there"),
            (Refusal::Reads, "cannot be read"),
            (Refusal::Removals, "remove it by hand"),
        ] {
            objects.0.lock().unwrap().0 = refusal;
            let done = machine.doctor(&[]);
            failed(&done, "object store", &[part, "next: correct files.place"]);
            assert!(!done.out.contains("secret-of-the-key"), "{}", done.out);
            let left = objects.0.lock().unwrap().1.len();
            assert_eq!(
                left,
                usize::from(refusal == Refusal::Removals),
                "{refusal:?}"
            );
        }
        machine
    });
    let mut machine = tried.await.unwrap();
    machine.set("AWS_ENDPOINT", "http://127.0.0.1:1");
    let done = machine.doctor(&[]);
    failed(
        &done,
        "object store",
        &["s3://bucket/invoices", "AWS_ENDPOINT"],
    );
}
