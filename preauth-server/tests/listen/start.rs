//! How it starts, and the messages when it does not.

use crate::support::write_secret;

use crate::listener::{Listener, refused};

#[test]
fn a_missing_secret_is_reported_with_the_ways_to_give_one() {
    let output = refused(&[]);
    let message = String::from_utf8(output.stderr).unwrap();
    for way in ["--secret-file", "WEBHOOK_SECRET", "--secret"] {
        assert!(message.contains(way), "{message}");
    }
    let output = refused(&["--secret", "whsec_hunter2"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("shorter than 24 bytes"), "{message}");
    assert!(!message.contains("hunter2"), "{message}");
}

#[test]
fn contradictory_options_are_refused() {
    for wrong in [
        ["--drop", "--status=503"].as_slice(),
        &["--status=99"],
        &["--delay=12"],
        &["--delay=1d"],
        &["--fail=-1"],
    ] {
        assert_eq!(refused(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[tokio::test]
async fn a_missing_secret_file_is_reported_and_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    let listener = Listener::start(&["--secret-file", path.to_str().unwrap()]).await;
    assert_eq!(listener.send(None, "{}").await, 503);
    write_secret(&path, "whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE");
    assert_eq!(listener.send(None, "{}").await, 400);
    let text = listener
        .until(|text| text.contains("-> answered 400"))
        .await;
    assert!(
        text.contains("nothing can be verified yet: cannot read secret file"),
        "{text}"
    );
    assert!(text.contains("-> answered 503"), "{text}");
}
