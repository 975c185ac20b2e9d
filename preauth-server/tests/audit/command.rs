//! The command, beside a running server.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use serde_json::Value;
use test_support::{Backend, Home, Sandbox, Scratch, offer_body, on_each_database};

use crate::world::live_in;

pub(crate) async fn audit<S: AsRef<OsStr>>(arguments: &[S]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_preauth-server"));
    command.arg("audit").args(arguments);
    let ended = tokio::task::spawn_blocking(move || command.output());
    ended.await.unwrap().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

on_each_database! {
    a_database_is_sound_while_a_server_works_on_it,
}

async fn a_database_is_sound_while_a_server_works_on_it(backend: Backend) {
    let home = Home::of_a_sandbox(backend).await;
    let data = home.folder().join("data").display().to_string();
    let mut arguments = vec!["--json".to_owned(), "--data".to_owned(), data];
    arguments.extend(home.database_flags());
    let sandbox = Arc::new(Sandbox::start_in(home, &["--rate-limit", "1000000"]).await);
    let is_over = Arc::new(AtomicBool::new(false));
    let work = tokio::spawn(offer_and_cancel(Arc::clone(&sandbox), Arc::clone(&is_over)));
    let mut operations = 0;
    // Until there is something to check.
    while operations < 20 {
        let output = audit(&arguments).await;
        let lines = text(&output.stdout);
        let code = output.status.code();
        assert_eq!(code, Some(0), "{lines}{}", text(&output.stderr));
        let last: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
        operations = last["totals"]["operations"].as_u64().unwrap();
    }
    is_over.store(true, Ordering::Relaxed);
    let made = work.await.unwrap();
    assert!(made >= operations, "{made} offers, {operations} checked");
}

/// Creates offers one after the other and cancels every second one; returns how many it created.
async fn offer_and_cancel(sandbox: Arc<Sandbox>, is_over: Arc<AtomicBool>) -> u64 {
    let caller = sandbox.caller("apiKey");
    let mut count = 0;
    while !is_over.load(Ordering::Relaxed) {
        count += 1;
        let body = offer_body(&sandbox, &format!("NF-{count}"));
        let created = caller.post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(created.status, 201, "{}", created.text);
        if count % 2 == 0 {
            let path = format!("{PRE_AUTHORIZATIONS}/{}/cancel", created.json()["id"]);
            let cancelled = caller.post_json(&path, &Value::Null).await;
            assert_eq!(cancelled.status, 201, "{}", cancelled.text);
        }
    }
    count
}

#[tokio::test]
async fn violations_are_reported_with_the_next_step_and_exit_code_1() {
    let database = Scratch::empty(Backend::Sqlite).await;
    live_in(&database).await;
    let url = database.url();
    let clean = audit(&["--database", &url]).await;
    assert_eq!(clean.status.code(), Some(0), "{}", text(&clean.stderr));
    assert!(text(&clean.stdout).starts_with("every rule holds: 7 operations"));
    let broken = ["UPDATE operations SET version = version + 1 WHERE id = 4"];
    database.execute(&broken).await;
    let found = audit(&["--database", &url]).await;
    assert_eq!(found.status.code(), Some(1));
    let printed = text(&found.stdout);
    let expected = "operation 4: version 2 is stored, and there are events for [1] \
                    (every version has exactly one event)\n  next: ";
    assert!(printed.starts_with(expected), "{printed}");
    assert!(printed.contains("\n1 violation: 7 operations"), "{printed}");
    let found = audit(&["--json", "--database", &url]).await;
    let printed = text(&found.stdout);
    let line: Value = serde_json::from_str(printed.lines().next().unwrap()).unwrap();
    assert_eq!(line["rule"], "ONE_EVENT_PER_VERSION");
    assert_eq!(line["subject"], "operation 4");
}

#[tokio::test]
async fn an_audit_that_cannot_open_its_database_ends_with_2_and_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.db");
    let url = format!("sqlite://{}", missing.display());
    for arguments in [
        &["--database", &url][..],
        &["--database", "mysql://db/preauth"],
        &["--database", "postgres://nobody@127.0.0.1:1/preauth"],
        &["--no-such-flag"],
    ] {
        let output = audit(arguments).await;
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_ne!(text(&output.stderr), "", "{arguments:?}");
    }
    assert!(!Path::new(&missing).exists());
}
