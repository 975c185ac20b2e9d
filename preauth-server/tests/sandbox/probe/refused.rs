//! What cannot be tried ends with 2 and the next step.

use super::probe;

#[tokio::test]
async fn nothing_is_sent_in_the_clear_to_another_machine_or_to_nobody() {
    for (arguments, expected) in [
        (&["http://192.0.2.1/webhooks"][..], "give an https URL"),
        (&["127.0.0.1:9000/webhooks"], "give it whole"),
        (&["ftp://127.0.0.1/webhooks"], "give it whole"),
        (
            &["http://127.0.0.1:1/webhooks"],
            "start it, or correct the URL",
        ),
        (
            &["http://127.0.0.1:1/", "--event", "/nowhere/event.json"],
            "cannot read the event in /nowhere/event.json",
        ),
        (
            // The variable has a secret, but the file is what was asked for.
            &["http://127.0.0.1:1/", "--secret-file", "/nowhere/secret"],
            "cannot read secret file /nowhere/secret",
        ),
        (
            &["http://127.0.0.1:1/", "--ca-file", "/nowhere/ca"],
            "the certificates in /nowhere/ca cannot be used",
        ),
        (
            &["http://127.0.0.1:1/", "--count-command", "echo many"],
            "printed no number but: many",
        ),
    ] {
        let output = probe(arguments).await;
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(expected), "{expected:?} in {message:?}");
        assert_eq!(output.status.code(), Some(2), "{message}");
    }
}
