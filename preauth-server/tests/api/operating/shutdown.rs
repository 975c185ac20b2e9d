//! A server asked to stop reports at once that it is not ready, and answers probes to the end.

use test_support::{Backend, Sandbox, on_each_database};

use super::server::{ask, probe_until, scrape, scrape_until};
use crate::slow_bodies::SlowCreate;

on_each_database! {
    a_stopping_server_is_not_ready_yet_alive_while_requests_are_under_way,
}

async fn a_stopping_server_is_not_ready_yet_alive_while_requests_are_under_way(backend: Backend) {
    let mut sandbox = Sandbox::start(backend).await;
    let create = SlowCreate::json(&sandbox, "NF-1").await;
    let in_flight = [("api", "integration")];
    scrape_until(&sandbox, |scraped| {
        scraped.value("preauth_http_requests_in_flight", &in_flight) >= 1.0
    })
    .await;
    sandbox.terminate();
    let refusal = probe_until(&sandbox, "/readyz", 503).await.json();
    assert_eq!(refusal["reason"], "the server is stopping");
    assert_eq!(ask(&sandbox, "/livez").await.status, 200);
    scrape(&sandbox).await;
    let created = create.finish().await;
    assert_eq!(created.status, 201, "{}", created.text);
    assert!(sandbox.wait(), "it ended well");
}
