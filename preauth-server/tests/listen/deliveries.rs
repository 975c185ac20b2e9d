//! What is told of deliveries, genuine and not.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_server::clock::{Clock, SystemClock};
use webhook_verify::{Secret, sign};

use crate::listener::{Listener, command, with_sandbox};
use crate::support::offer_body;

const SECRET: &str = "whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE";
const EVENT: &str = r#"{"id":"0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d0e","type":"webhook.test","createdAt":"2026-11-21T12:00:00.000Z","data":{"message":"Olá"}}"#;

/// Signed so many seconds ago.
fn signed(seconds_ago: i64, body: &str) -> String {
    let at = SystemClock.now().unix_seconds().saturating_sub(seconds_ago);
    sign(&[Secret::parse(SECRET).unwrap()], at, body.as_bytes()).unwrap()
}

#[tokio::test]
async fn deliveries_of_a_sandbox_that_starts_later_are_verified() {
    let (listener, sandbox) = with_sandbox(&["--json"]).await;
    let body = offer_body(&sandbox, "NF-1");
    let erp = sandbox.caller("apiKey");
    let offered = erp.post_json(PRE_AUTHORIZATIONS, &body).await;
    assert_eq!(offered.status, 201, "{}", offered.text);
    let heard = listener.heard(1).await.remove(0);
    assert_eq!(heard["verified"], true, "{heard}");
    assert_eq!(heard["type"], "pre_authorization.created");
    assert_eq!(
        (&heard["arrival"], &heard["status"]),
        (&1.into(), &204.into())
    );
    assert_eq!(heard["eventId"], heard["body"]["id"]);
    assert_eq!(heard["body"]["data"]["invoice"]["number"], "NF-1");
}

#[tokio::test]
async fn what_is_not_genuine_is_refused_with_the_reason_in_words() {
    let listener = Listener::start(&["--json", "--secret", SECRET]).await;
    let genuine = signed(0, EVENT);
    let old = signed(1_000, EVENT);
    let other = EVENT.replace("Olá", "Ola");
    for (signature, body, status) in [
        (None, EVENT, 400),
        (Some(genuine.as_str()), other.as_str(), 400),
        (Some(old.as_str()), EVENT, 400),
        (Some("t=1;v1=2"), EVENT, 400),
        (Some(genuine.as_str()), EVENT, 204),
        (Some(genuine.as_str()), EVENT, 204),
        (Some(&signed(0, "no event")), "no event", 204),
    ] {
        assert_eq!(
            listener.send(signature, body).await,
            status,
            "{signature:?}"
        );
    }
    let heard = listener.heard(7).await;
    for (index, reason) in [
        "the request has no x-service-signature header",
        "no signature matches: check that the secret is this endpoint's",
        "s more than the 300 s tolerated: an old delivery, or this machine's clock runs ahead",
        "malformed x-service-signature header: t is not made of digits alone",
    ]
    .iter()
    .enumerate()
    {
        let told = heard[index]["reason"].as_str().unwrap();
        assert!(told.contains(reason), "{reason:?} in {told:?}");
        assert!(
            heard[index]["arrival"].is_null(),
            "strangers are not counted"
        );
    }
    assert_eq!(
        (&heard[4]["arrival"], &heard[5]["arrival"]),
        (&1.into(), &2.into())
    );
    assert!(heard[6]["eventId"].is_null());
    assert_eq!(heard[6]["body"], "no event");
}

#[tokio::test]
async fn people_read_verdict_and_body_and_the_secret_nowhere() {
    let mut command = command(&[]);
    command.env("WEBHOOK_SECRET", SECRET);
    let listener = Listener::run(command).await;
    let signature = signed(0, EVENT);
    listener.send(Some(&signature), EVENT).await;
    listener.send(Some(&signature), EVENT).await;
    let text = listener
        .until(|text| text.matches("-> answered").count() == 2)
        .await;
    for told in [
        "webhook.test  event 0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d0e",
        "signature verified, signed ",
        "; first arrival\n  -> answered 204\n",
        "; seen before, arrival 2\n",
        "    \"data\": {\n      \"message\": \"Olá\"\n    }\n",
    ] {
        assert!(text.contains(told), "{told:?} in {text}");
    }
    assert!(!text.contains(SECRET), "{text}");
}
