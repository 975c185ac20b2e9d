//! Receivers that keep the contract.

use super::super::listen::{Listener, SECRET};
use super::{codes, objects, probe};

#[tokio::test]
async fn listen_passes_and_the_work_is_not_claimed_to_be_seen() {
    let listener = Listener::start(&["--json", "--secret", SECRET]).await;
    let output = probe(&[&listener.url, "--json"]).await;
    let objects = objects(&output);
    assert_eq!(output.status.code(), Some(0), "{objects:#?}");
    assert_eq!(codes(&objects, "fault"), [""; 0]);
    assert_eq!(codes(&objects, "note"), ["work-unseen", "work-unseen"]);
    assert_eq!(objects.last().unwrap()["totals"]["checks"], 19);
}

#[tokio::test]
async fn an_event_of_ones_own_is_sent_with_new_ids() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("event.json");
    let event =
        r#"{"id":"x","type":"anticipation.paid","createdAt":"","data":{"anticipationId":7}}"#;
    std::fs::write(&path, event).unwrap();
    let listener = Listener::start(&["--json", "--secret", SECRET]).await;
    let output = probe(&[&listener.url, "--event", path.to_str().unwrap()]).await;
    assert!(output.status.success(), "{output:?}");
    let received = listener.received(2).await;
    assert_eq!(received[0]["type"], "anticipation.paid");
    assert_eq!(received[0]["body"]["data"]["anticipationId"], 7);
    assert_eq!(received[1]["arrival"], 2, "the same again");
}

#[tokio::test]
async fn the_report_is_in_the_language_and_never_has_the_secret() {
    let listener = Listener::start(&["--secret", SECRET, "--status", "500"]).await;
    let output = probe(&[&listener.url, "--lang", "pt"]).await;
    let text = String::from_utf8(output.stdout).unwrap();
    for expected in [
        "testando http://127.0.0.1:",
        "FALHA    uma entrega autêntica: 500 em ",
        "\n         próximo passo: confira se este é o segredo",
        "/docs/guides/test-your-receiver.pt.md#refuses-genuine\n",
        "pulado   o mesmo evento de novo\n",
        "verificações: 1, falhas: 1\n",
    ] {
        assert!(text.contains(expected), "{expected:?} in {text}");
    }
    assert!(!text.contains(SECRET));
    assert_eq!(output.status.code(), Some(1));
}
