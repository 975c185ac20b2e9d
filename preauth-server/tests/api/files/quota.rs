//! The quota of files per head office.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use serde_json::{Value, json};
use test_support::{
    Answer, Backend, Form, RawCaller, Sandbox, Server, offer_body, on_each_database, with,
};
use tokio::task::JoinSet;

use super::{PDF, pdf};

on_each_database! {
    files_beyond_the_quota_are_refused,
    concurrent_uploads_do_not_exceed_the_quota_together,
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
