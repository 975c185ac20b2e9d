//! How it starts, and the messages when it does not.

use test_support::write_secret;

use super::deliveries::{SECRET, signed};
use super::listener::{Listener, command, refused};

#[test]
fn a_missing_secret_is_reported_with_the_ways_to_give_one() {
    let output = refused(&[]);
    let message = String::from_utf8(output.stderr).unwrap();
    for way in ["--secret-file", "WEBHOOK_SECRET", "standard input"] {
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

#[tokio::test]
async fn a_secret_comes_by_standard_input_and_none_is_among_the_arguments() {
    let mut command = command(&["--secret-file", "-"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    write_secret(&path, SECRET);
    command.stdin(std::fs::File::open(path).unwrap());
    let listener = Listener::run(command).await;
    let signature = signed(0, "no event");
    assert_eq!(listener.send(Some(&signature), "no event").await, 204);
    let printed = listener
        .until(|text| text.contains("-> answered 204"))
        .await;
    assert!(printed.contains("signature verified"), "{printed}");
    assert!(!printed.contains("warning:"), "{printed}");
}

#[tokio::test]
async fn a_secret_among_the_arguments_is_taken_with_a_warning() {
    let listener = Listener::start(&["--secret", SECRET]).await;
    let printed = listener.until(|text| text.contains("listening")).await;
    assert!(
        printed.contains("everybody on this machine can read --secret"),
        "{printed}"
    );
    assert!(!printed.contains(SECRET), "{printed}");
}
