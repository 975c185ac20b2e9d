//! The master key is replaced while everything goes on, and none that is still needed can be missed.

use std::path::{Path, PathBuf};

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use serde_json::{Value, json};

use crate::process::{preauth, text};
use crate::support::{Backend, Home, Sandbox, TestReceiver, offer_body};

on_each_database! {
    a_master_key_is_replaced_while_deliveries_go_on,
    a_key_that_only_an_old_secret_needs_stops_the_start,
    an_interrupted_or_repeated_re_encryption_does_what_is_left,
}

const NEW_KEY: &str = "5151515151515151515151515151515151515151515151515151515151515151";

fn key_file(home: &Home) -> PathBuf {
    home.folder().join("data").join("master.key")
}

/// Puts a new active key in front of those that a home has; gives back what the file held before.
fn put_in_front(home: &Home) -> String {
    let before = std::fs::read_to_string(key_file(home)).unwrap();
    let text = format!("# the active one\n{NEW_KEY}\n{before}\n");
    std::fs::write(key_file(home), text).unwrap();
    before
}

async fn start(home: Home, receiver: &TestReceiver) -> Sandbox {
    let flags = ["--rate-limit", "1000000", "--webhook-url", &receiver.url()];
    Sandbox::start_in(home, &flags).await
}

async fn offer(sandbox: &Sandbox, number: &str) {
    let body = offer_body(sandbox, number);
    let erp = sandbox.caller("apiKey");
    let offered = erp.post_json(PRE_AUTHORIZATIONS, &body).await;
    assert_eq!(offered.status, 201, "{}", offered.text);
}

async fn ask(sandbox: &Sandbox, is_post: bool, path: &str) -> Value {
    let (platform, path) = (sandbox.platform(), format!("/api/platform/v1/{path}"));
    let answer = if is_post {
        platform.post(&path).await
    } else {
        platform.get(&path).await
    };
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

/// Known or not, and how many secrets each key seals; the active one first.
async fn keys(sandbox: &Sandbox) -> Vec<(bool, u64)> {
    let shown = ask(sandbox, false, "master-keys").await;
    let keys = shown["keys"].as_array().unwrap();
    assert_eq!(keys[0]["id"], shown["active"]);
    let key = |key: &Value| {
        let known = key["known"].as_bool().unwrap();
        (known, key["secrets"].as_u64().unwrap())
    };
    keys.iter().map(key).collect()
}

/// Rotates the demo endpoint's secret; the one before stays in force for a day.
async fn rotate_with_overlap(sandbox: &Sandbox) -> String {
    let company = sandbox.company().await;
    let path = format!("/api/platform/v1/companies/{company}/webhook-endpoint/rotate-secret");
    let body = json!({"overlapHours": 24});
    let rotated = sandbox.platform().post_json(&path, &body).await.json();
    rotated["secret"].as_str().unwrap().to_owned()
}

/// What `serve` says when it does not start in this home.
fn refused_start(home: &Home) -> String {
    let data = home.folder().join("data");
    let arguments = ["serve", "--data", data.to_str().unwrap()];
    let free = "--listen 127.0.0.1:0 --platform-listen 127.0.0.1:0";
    let database = home.database_flags();
    let database = database.iter().map(String::as_str);
    let arguments: Vec<_> = arguments
        .into_iter()
        .chain(free.split(' '))
        .chain(database)
        .collect();
    let token = ("PREAUTH_PLATFORM_TOKEN", "0123456789abcdef");
    let shared = ("PREAUTH_FILES_SHARED", "true");
    let output = preauth(home.folder(), &arguments, &[token, shared]);
    assert!(!output.status.success());
    text(&output.stderr)
}

async fn a_master_key_is_replaced_while_deliveries_go_on(backend: Backend) {
    let receiver = TestReceiver::start().await;
    let home = Sandbox::start_sending_to(backend, &receiver.url())
        .await
        .kill();
    put_in_front(&home);
    let sandbox = start(home, &receiver).await;
    let old_secret = sandbox.text("webhookSecret").to_owned();
    let new_secret = rotate_with_overlap(&sandbox).await;
    assert_eq!(keys(&sandbox).await, [(true, 1), (true, 1)]);
    let offers = async {
        for number in 0..20 {
            offer(&sandbox, &format!("NF-{number}")).await;
        }
    };
    let (done, ()) = tokio::join!(ask(&sandbox, true, "master-keys/reencrypt"), offers);
    assert_eq!(done, json!({"reencrypted": 1, "unopened": 0}));
    assert_eq!(keys(&sandbox).await, [(true, 2), (true, 0)]);
    // The old key may go.
    let home = sandbox.kill();
    std::fs::write(key_file(&home), NEW_KEY).unwrap();
    let sandbox = start(home, &receiver).await;
    assert_eq!(keys(&sandbox).await, [(true, 2)]);
    offer(&sandbox, "NF-LAST").await;
    // Both secrets sign all the while, whatever they are sealed with.
    for secret in [&old_secret, &new_secret] {
        let arrived = receiver.arrived(21, secret).await;
        let is_last = |data: &Value| data["invoice"]["number"] == "NF-LAST";
        assert!(arrived.iter().any(|one| is_last(&one.body["data"])));
    }
}

async fn a_key_that_only_an_old_secret_needs_stops_the_start(backend: Backend) {
    let home = Sandbox::start(backend).await.kill();
    let old_key = put_in_front(&home);
    let sandbox = Sandbox::start_in(home, &[]).await;
    rotate_with_overlap(&sandbox).await;
    let home = sandbox.kill();
    std::fs::write(key_file(&home), NEW_KEY).unwrap();
    let said = refused_start(&home);
    for part in [
        "1 signing secret sealed with another master key",
        "restore the master key that belongs to this database from its backup",
    ] {
        assert!(said.contains(part), "{part:?} in {said}");
    }
    for secret in [NEW_KEY, &old_key] {
        assert!(!said.contains(secret), "{said}");
    }
    // A key file that cannot be read is told with its line, before the database is asked.
    std::fs::write(key_file(&home), format!("{NEW_KEY}\nsecret")).unwrap();
    let said = refused_start(&home);
    assert!(said.contains("line 2 of master key file"), "{said}");
    assert!(said.contains("must be 64 hexadecimal digits"), "{said}");
}

async fn an_interrupted_or_repeated_re_encryption_does_what_is_left(backend: Backend) {
    let home = Sandbox::start(backend).await.kill();
    put_in_front(&home);
    let sandbox = Sandbox::start_in(home, &[]).await;
    let reencrypt = async |sandbox: &Sandbox| {
        let done = ask(sandbox, true, "master-keys/reencrypt").await;
        done["reencrypted"].as_u64().unwrap()
    };
    // Two at once, and the process killed after them: one of them did it, and it stays done.
    let (one, other) = tokio::join!(reencrypt(&sandbox), reencrypt(&sandbox));
    assert_eq!(one + other, 1);
    let sandbox = Sandbox::start_in(sandbox.kill(), &[]).await;
    assert_eq!(reencrypt(&sandbox).await, 0);
    assert_eq!(keys(&sandbox).await, [(true, 1), (true, 0)]);
}

#[tokio::test]
async fn neither_secrets_nor_keys_lie_open_in_the_database_or_the_metrics() {
    let receiver = TestReceiver::start().await;
    let sandbox = Sandbox::start_sending_to(Backend::Sqlite, &receiver.url()).await;
    let mut secrets = vec![sandbox.text("webhookSecret").to_owned()];
    secrets.push(rotate_with_overlap(&sandbox).await);
    secrets.push(sandbox.text("apiKey").to_owned());
    secrets.push(sandbox.text("platformToken").to_owned());
    offer(&sandbox, "NF-1").await;
    receiver.arrived(1, &secrets[1]).await;
    let metrics = sandbox.platform().get("/metrics").await.text;
    let (log, home) = (sandbox.log(), sandbox.kill());
    secrets.push(std::fs::read_to_string(key_file(&home)).unwrap());
    for secret in &secrets {
        assert!(!metrics.contains(secret.as_str()));
        for path in database_files(home.folder()) {
            let bytes = std::fs::read(&path).unwrap();
            let found = bytes
                .windows(secret.len())
                .any(|it| it == secret.as_bytes());
            assert!(!found, "{} holds {secret}", path.display());
        }
    }
    // The sandbox's greeting shows a key and a secret on purpose; the master key is nobody's business.
    assert!(!log.contains(secrets.last().unwrap().as_str()));
}

fn database_files(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder.join("data")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let is_database = |path: &PathBuf| path.to_string_lossy().contains("preauth.db");
    let found: Vec<_> = paths.filter(is_database).collect();
    assert!(found.len() > 1, "{found:?}");
    found
}
