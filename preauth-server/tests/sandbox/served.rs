//! `serve` on a sandbox's data: no route changes its clock, and no value is magic.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_server::http::integration::Magic;
use serde_json::json;
use test_support::{Backend, RawCaller, Sandbox, Server, offer_body, travel::CLOCK, with};

// Contract: service/production
#[tokio::test]
async fn production_has_neither_time_travel_nor_magic() {
    let sandbox = Sandbox::start(Backend::Sqlite).await;
    let body = offer_body(&sandbox, "NF-1");
    let [key, token] = ["apiKey", "platformToken"].map(|name| sandbox.text(name).to_owned());
    let served = Server::start_in(sandbox.kill(), &token).await;

    let platform = RawCaller::new(&served.platform_url, Some(&token));
    for seconds in [json!(0), json!(86_400), json!("x")] {
        let unknown = platform
            .post_json(CLOCK, &json!({"advanceSeconds": seconds}))
            .await;
        assert_eq!(unknown.refusal(), (404, "NOT_FOUND".to_owned()));
    }
    assert_eq!(
        platform.get(CLOCK).await.refusal(),
        (404, "NOT_FOUND".to_owned())
    );

    let caller = RawCaller::new(&served.base_url, Some(&key));
    for (id, code) in (1..=20).zip(Magic::codes()) {
        let text = json!(format!("sandbox:{}", code.as_str()));
        let body = with(body.clone(), "/invoice/number", text.clone());
        let body = with(body, "/externalReference", text.clone());
        let created = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(created.status, 201, "{}", created.text);
        assert_eq!(created.json()["invoice"]["number"], text);
        let one = format!("{PRE_AUTHORIZATIONS}/{id}");
        assert_eq!(caller.get(&one).await.status, 200);
        assert_eq!(caller.post(&format!("{one}/cancel")).await.status, 201);
        let filter = format!(
            "{PRE_AUTHORIZATIONS}?externalReference={}",
            text.as_str().unwrap()
        );
        assert_eq!(caller.get(&filter).await.json()["pagination"]["total"], 1);
    }
    let mistyped = with(body, "/invoice/number", json!("sandbox:NO_SUCH_CODE"));
    assert_eq!(
        caller.post_json(PRE_AUTHORIZATIONS, &mistyped).await.status,
        201
    );
}
