//! The report of deliveries, authentic or not.

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_server::clock::{Clock, SystemClock};
use test_support::offer_body;
use webhook_verify::{Secret, sign};

use super::listener::{Listener, command, with_sandbox};

pub(crate) const SECRET: &str = "whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE";
const EVENT: &str = r#"{"id":"0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d0e","type":"webhook.test","createdAt":"2026-11-21T12:00:00.000Z","data":{"message":"Olá"}}"#;

/// A signature header made `seconds_ago`.
pub(crate) fn signed(seconds_ago: i64, body: &str) -> String {
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
    let received = listener.received(1).await.remove(0);
    assert_eq!(received["verified"], true, "{received}");
    assert_eq!(received["type"], "pre_authorization.created");
    assert_eq!(
        (&received["arrival"], &received["status"]),
        (&1.into(), &204.into())
    );
    assert_eq!(received["eventId"], received["body"]["id"]);
    assert_eq!(received["body"]["data"]["invoice"]["number"], "NF-1");
}

#[tokio::test]
async fn a_delivery_with_an_invalid_signature_is_refused_with_the_reason() {
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
    let received = listener.received(7).await;
    for (index, reason) in [
        "the request has no x-service-signature header",
        "no signature matches: check that the secret is this endpoint's",
        "s more than the 300 s tolerated: an old delivery, or this machine's clock runs ahead",
        "malformed x-service-signature header: t is not made of digits alone",
    ]
    .iter()
    .enumerate()
    {
        let reported = received[index]["reason"].as_str().unwrap();
        assert!(reported.contains(reason), "{reason:?} in {reported:?}");
        assert!(
            received[index]["arrival"].is_null(),
            "strangers are not counted"
        );
    }
    assert_eq!(
        (&received[4]["arrival"], &received[5]["arrival"]),
        (&1.into(), &2.into())
    );
    assert!(received[6]["eventId"].is_null());
    assert_eq!(received[6]["body"], "no event");
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
    for expected in [
        "webhook.test  event 0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d0e",
        "signature verified, signed ",
        "; first arrival\n  -> answered 204\n",
        "; seen before, arrival 2\n",
        "    \"data\": {\n      \"message\": \"Olá\"\n    }\n",
    ] {
        assert!(text.contains(expected), "{expected:?} in {text}");
    }
    assert!(!text.contains(SECRET), "{text}");
}

#[tokio::test]
async fn a_report_for_people_is_in_the_language_and_json_is_not() {
    let listener = Listener::start(&["--secret", SECRET, "--lang", "pt", "--fail", "1"]).await;
    let signature = signed(0, EVENT);
    listener.send(Some(&signature), EVENT).await;
    listener.send(None, EVENT).await;
    let text = listener
        .until(|text| text.matches("-> resposta").count() == 2)
        .await;
    for expected in [
        "aguardando entregas em http://",
        "(falha na primeira entrega: responde 500); ctrl-c encerra\n",
        "webhook.test  evento 0197f3c2-7b1a-7c33-9d2e-5a6f7b8c9d0e",
        "assinatura verificada, feita há ",
        "; primeira chegada\n  -> resposta 500\n",
        "assinatura recusada: a requisição não tem o cabeçalho x-service-signature\n  -> resposta 400\n",
    ] {
        assert!(text.contains(expected), "{expected:?} in {text}");
    }
    let listener = Listener::start(&["--json", "--secret", SECRET, "--lang", "pt"]).await;
    listener.send(None, EVENT).await;
    let reason = listener.received(1).await[0]["reason"].clone();
    assert_eq!(
        reason,
        "signature refused: the request has no x-service-signature header"
    );
}
