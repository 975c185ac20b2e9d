//! The master key is rotated while the service runs; a key still in use cannot be dropped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;

use chrono::TimeDelta;
use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::{
    Backend, Home, RawCaller, Sandbox, Server, SettableClock, TestReceiver, faketime, offer_body,
    on_each_database, set_by, write_secret,
};
use webhook_verify::{SIGNATURE_HEADER, Secret, Verifier};

use crate::process::{preauth, text};

on_each_database! {
    a_master_key_is_replaced_while_deliveries_go_on,
    a_key_that_only_an_old_secret_needs_stops_the_start,
    an_interrupted_or_repeated_re_encryption_does_what_is_left,
    a_lost_master_key_is_given_up_and_no_event_is_lost_or_sent_unsigned,
    a_lost_key_that_sealed_an_old_secret_alone_pauses_nobody,
}

const NEW_KEY: &str = "5151515151515151515151515151515151515151515151515151515151515151";

fn key_file(home: &Home) -> PathBuf {
    home.folder().join("data").join("master.key")
}

/// Puts a new active key before the keys of a home; returns the file's previous content.
fn put_in_front(home: &Home) -> String {
    let before = std::fs::read_to_string(key_file(home)).unwrap();
    let text = format!("# the active one\n{NEW_KEY}\n{before}\n");
    write_secret(&key_file(home), &text);
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

/// For each key, the active one first: whether it is known, and how many secrets it encrypts.
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

/// Rotates the demo endpoint's secret; the previous one stays valid for a day.
async fn rotate_with_overlap(sandbox: &Sandbox) -> String {
    let company = sandbox.company().await;
    let path = format!("/api/platform/v1/companies/{company}/webhook-endpoint/rotate-secret");
    let body = json!({"overlapHours": 24});
    let rotated = sandbox.platform().post_json(&path, &body).await.json();
    rotated["secret"].as_str().unwrap().to_owned()
}

/// The message of a `serve` that refuses to start in this home.
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

/// A backup's manifest has the keys with secrets, as the running server shows them.
async fn a_backup_names_the_keys_that_it_needs(sandbox: &Sandbox) {
    let folder = tempfile::tempdir().unwrap();
    let (data, target) = (sandbox.data(), folder.path().join("backup"));
    let [data, target] = [&data, &target].map(|path| path.to_str().unwrap());
    let url = sandbox.database_url();
    let database = url.iter().flat_map(|url| ["--database", url]);
    let arguments = ["backup", target, "--data", data].into_iter();
    let arguments: Vec<_> = arguments.chain(database).collect();
    let aside = [
        "CREATE SCHEMA aside",
        "ALTER TABLE preauth_sandbox SET SCHEMA aside",
    ];
    execute(url.as_deref(), aside).await;
    let made = preauth(
        folder.path(),
        &arguments,
        &[("PREAUTH_FILES_SHARED", "true")],
    );
    let back = [
        "ALTER TABLE aside.preauth_sandbox SET SCHEMA public",
        "DROP SCHEMA aside",
    ];
    execute(url.as_deref(), back).await;
    assert!(made.status.success(), "{}", text(&made.stderr));
    let manifest = std::fs::read(folder.path().join("backup/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let needed = |keys: &Value| {
        let keys = keys.as_array().unwrap().iter();
        let keys = keys.map(|key| {
            (
                key["id"].as_str().unwrap().to_owned(),
                key["secrets"].as_u64(),
            )
        });
        let keys = keys.filter(|(_, secrets)| *secrets != Some(0));
        keys.collect::<BTreeMap<_, _>>()
    };
    let shown = ask(sandbox, false, "master-keys").await;
    assert!(!needed(&shown["keys"]).is_empty(), "{shown}");
    assert_eq!(needed(&manifest["masterKeys"]), needed(&shown["keys"]));
}

/// On PostgreSQL alone: a backup refuses a table that it does not know, as a sandbox's mark.
async fn execute(url: Option<&str>, statements: [&'static str; 2]) {
    let Some(url) = url else { return };
    let pool = sqlx::PgPool::connect(url).await.unwrap();
    for statement in statements {
        sqlx::query(statement).execute(&pool).await.unwrap();
    }
    pool.close().await;
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
    a_backup_names_the_keys_that_it_needs(&sandbox).await;
    let offers = async {
        for number in 0..20 {
            offer(&sandbox, &format!("NF-{number}")).await;
        }
    };
    let (done, ()) = tokio::join!(ask(&sandbox, true, "master-keys/reencrypt"), offers);
    assert_eq!(done, json!({"reencrypted": 1, "unopened": 0, "held": 0}));
    assert_eq!(keys(&sandbox).await, [(true, 2), (true, 0)]);
    a_backup_names_the_keys_that_it_needs(&sandbox).await;
    // The old key may be removed.
    let home = sandbox.kill();
    write_secret(&key_file(&home), NEW_KEY);
    let sandbox = start(home, &receiver).await;
    assert_eq!(keys(&sandbox).await, [(true, 2)]);
    offer(&sandbox, "NF-LAST").await;
    // Both secrets sign, whichever key encrypts them.
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
    write_secret(&key_file(&home), NEW_KEY);
    let message = refused_start(&home);
    for part in [
        "1 signing secret sealed with another master key",
        "restore the master key that belongs to this database from your copy",
    ] {
        assert!(message.contains(part), "{part:?} in {message}");
    }
    for secret in [NEW_KEY, &old_key] {
        assert!(!message.contains(secret), "{message}");
    }
    // An unreadable key file is reported with its line, before the database is opened.
    write_secret(&key_file(&home), &format!("{NEW_KEY}\nsecret"));
    let message = refused_start(&home);
    assert!(message.contains("line 2 of master key file"), "{message}");
    assert!(
        message.contains("must be 64 hexadecimal digits"),
        "{message}"
    );
}

#[tokio::test]
async fn a_missing_master_key_is_named_and_none_is_made_in_its_place() {
    let home = Sandbox::start(Backend::Sqlite).await.kill();
    let file = key_file(&home);
    let key = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let message = refused_start(&home);
    let missing = format!("there is no master key file {}: ", file.display());
    for part in [&missing, "1 signing secret sealed", "from your copy"] {
        assert!(message.contains(part), "{part:?} in {message}");
    }
    assert!(!file.exists(), "{message}");
    write_secret(&file, &key);
    Sandbox::start_in(home, &[]).await;
}

async fn an_interrupted_or_repeated_re_encryption_does_what_is_left(backend: Backend) {
    let home = Sandbox::start(backend).await.kill();
    put_in_front(&home);
    let sandbox = Sandbox::start_in(home, &[]).await;
    let reencrypt = async |sandbox: &Sandbox| {
        let done = ask(sandbox, true, "master-keys/reencrypt").await;
        done["reencrypted"].as_u64().unwrap()
    };
    // Two at once, and the process is killed afterwards: one of them completed, and the result is
    // durable.
    let (one, other) = tokio::join!(reencrypt(&sandbox), reencrypt(&sandbox));
    assert_eq!(one + other, 1);
    let sandbox = Sandbox::start_in(sandbox.kill(), &[]).await;
    assert_eq!(reencrypt(&sandbox).await, 0);
    assert_eq!(keys(&sandbox).await, [(true, 1), (true, 0)]);
}

const TOKEN: &str = "0123456789abcdef";

/// `abandon-master-key` with these arguments, on this home.
fn abandon(home: &Home, arguments: &[&str]) -> Output {
    abandon_with(home, arguments, &[])
}

/// The same with more environment variables.
fn abandon_with(home: &Home, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let data = home.folder().join("data");
    let mut all = vec!["abandon-master-key", "--data", data.to_str().unwrap()];
    let database = home.database_flags();
    all.extend(database.iter().map(String::as_str));
    all.extend(arguments);
    let shared = ("PREAUTH_FILES_SHARED", "true");
    let token = ("PREAUTH_PLATFORM_TOKEN", TOKEN);
    let variables = [&[token, shared], variables].concat();
    preauth(home.folder(), &all, &variables)
}

/// The keys that a refused start names, and its whole message.
fn lost_keys(home: &Home) -> (String, String) {
    let message = refused_start(home);
    let (_, rest) = message
        .split_once("`preauth-server abandon-master-key ")
        .unwrap();
    let (keys, _) = rest.split_once('`').unwrap();
    (keys.to_owned(), message)
}

async fn serve(home: &Arc<Home>) -> (Server, RawCaller) {
    let here = [("PREAUTH_WEBHOOKS_ALLOWED_NETWORKS", "127.0.0.0/8")];
    let server = Server::start_with(Arc::clone(home), TOKEN, &here).await;
    let platform = RawCaller::new(&server.platform_url, Some(TOKEN));
    (server, platform)
}

/// Registers a company with an endpoint; returns the endpoint's path.
async fn register(platform: &RawCaller, url: &str) -> String {
    let company = json!({"cnpj": "11222333000181", "name": "Construtora", "kind": "CONSTRUCTION"});
    let made = platform
        .post_json("/api/platform/v1/companies", &company)
        .await;
    let company = made.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/api/platform/v1/companies/{company}/webhook-endpoint");
    let body = json!({"url": url, "events": ["webhook.test"]}).to_string();
    let headers = [("content-type", "application/json")];
    let put = platform.send(Method::PUT, &path, &headers, Some(body.into_bytes()));
    assert_eq!(put.await.status, 201);
    path
}

async fn a_lost_master_key_is_given_up_and_no_event_is_lost_or_sent_unsigned(backend: Backend) {
    let receiver = TestReceiver::start().await;
    let home = Arc::new(Home::new(backend).await);
    let (server, platform) = serve(&home).await;
    let endpoint = register(&platform, &receiver.url()).await;
    server.stop();
    write_secret(&key_file(&home), NEW_KEY);
    let (lost, message) = lost_keys(&home);

    // Nothing is abandoned without confirmation, nor with a key that is not lost.
    let unasked = abandon(&home, &[&lost]);
    assert_eq!(unasked.status.code(), Some(4), "{}", text(&unasked.stderr));
    let (_, known) = message.split_once("knows only ").unwrap();
    for (key, expected) in [
        (&known[..8], "nothing is lost"),
        ("00000000", "no signing secret in force needs"),
    ] {
        let refused = abandon(&home, &[key, "--yes"]);
        assert_eq!(refused.status.code(), Some(1));
        assert!(text(&refused.stderr).contains(expected), "{refused:?}");
    }
    assert_eq!(lost_keys(&home).0, lost);

    let done = abandon(&home, &[&lost, "--yes"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let printed = text(&done.stdout);
    for part in [
        "given up: 1\n",
        "endpoint rotate 11222333000181\n",
        "resume 11222333000181\n",
    ] {
        assert!(printed.contains(part), "{part:?} in {printed}");
    }
    let again = abandon(&home, &[&lost, "--yes"]);
    assert!(text(&again.stderr).contains("no signing secret in force needs"));

    let (_server, platform) = serve(&home).await;
    let post = async |what: &str| platform.post(&format!("{endpoint}/{what}")).await;
    let kept = post("test").await.json();
    assert_eq!(kept["status"], "PAUSED");
    let too_early = post("resume").await;
    assert_eq!(too_early.refusal(), (409, "RESOURCE_CONFLICT".to_owned()));
    let rotated = post("rotate-secret").await.json();
    assert_eq!(post("resume").await.status, 200);
    let arrived = receiver
        .arrived(1, rotated["secret"].as_str().unwrap())
        .await;
    assert_eq!(arrived[0].body["id"], kept["eventId"]);
}

async fn a_lost_key_that_sealed_an_old_secret_alone_pauses_nobody(backend: Backend) {
    let receiver = TestReceiver::start().await;
    let home = Sandbox::start_sending_to(backend, &receiver.url())
        .await
        .kill();
    put_in_front(&home);
    let sandbox = start(home, &receiver).await;
    let old_secret = sandbox.text("webhookSecret").to_owned();
    let new_secret = rotate_with_overlap(&sandbox).await;
    let home = sandbox.kill();
    write_secret(&key_file(&home), NEW_KEY);
    let (lost, _) = lost_keys(&home);
    let done = abandon(&home, &[&lost, "--yes", "--json"]);
    let printed: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(
        (
            &printed["secrets"],
            &printed["endpoints"][0]["needsRotation"]
        ),
        (&json!(1), &json!(false))
    );
    let sandbox = start(home, &receiver).await;
    assert_eq!(keys(&sandbox).await, [(true, 1)]);
    offer(&sandbox, "NF-1").await;
    let arrived = receiver.arrived(1, &new_secret).await;
    let signature = arrived[0].request.headers.get(SIGNATURE_HEADER).unwrap();
    let old = Verifier::new(Secret::parse(&old_secret).unwrap());
    assert!(
        old.verify_now(Some(signature.as_bytes()), &arrived[0].request.body)
            .is_err()
    );
}

/// A home whose old secret, in force for a day, needs a lost master key; and that key.
async fn with_an_old_secret_lost(backend: Backend) -> (Home, String) {
    let home = Sandbox::start(backend).await.kill();
    put_in_front(&home);
    let sandbox = Sandbox::start_in(home, &[]).await;
    rotate_with_overlap(&sandbox).await;
    let home = sandbox.kill();
    write_secret(&key_file(&home), NEW_KEY);
    let (lost, _) = lost_keys(&home);
    (home, lost)
}

#[tokio::test]
async fn nothing_is_given_up_while_the_databases_clock_and_the_machines_differ() {
    let (home, lost) = with_an_old_secret_lost(Backend::Postgres).await;
    let [_, url] = &home.database_flags()[..] else {
        panic!("it has a URL");
    };
    let clock = SettableClock::at(url).await;
    // By a clock that is ahead the old secret has ended, so nothing would seem lost.
    for (ahead, expected) in [
        (TimeDelta::minutes(-15), "s ahead of the database's"),
        (TimeDelta::days(31), "s behind the database's"),
    ] {
        clock.set_ahead(ahead).await;
        let refused = abandon(&home, &[&lost, "--yes"]);
        assert_eq!(refused.status.code(), Some(1), "{}", text(&refused.stdout));
        let message = text(&refused.stderr);
        for part in [
            expected,
            "set the wrong one right",
            "run this command again",
        ] {
            assert!(message.contains(part), "{part:?} in {message}");
        }
    }
    // As little as `serve` allows.
    clock.set_ahead(TimeDelta::seconds(20)).await;
    let done = abandon(&home, &[&lost, "--yes"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(text(&done.stdout).contains("given up: 1\n"));
}

#[tokio::test]
async fn nothing_is_given_up_by_a_clock_behind_the_latest_recorded_moment() {
    let receiver = TestReceiver::start().await;
    let home = Sandbox::start_sending_to(Backend::Sqlite, &receiver.url())
        .await
        .kill();
    put_in_front(&home);
    let sandbox = start(home, &receiver).await;
    offer(&sandbox, "NF-1").await;
    let home = sandbox.kill();
    write_secret(&key_file(&home), NEW_KEY);
    let (lost, _) = lost_keys(&home);
    let library = faketime();
    let late = set_by(&library, "-31d");
    let refused = abandon_with(&home, &[&lost, "--yes"], &late);
    assert_eq!(refused.status.code(), Some(1));
    let message = text(&refused.stderr);
    assert!(
        message.contains("behind the latest recorded moment"),
        "{message}"
    );
    assert_eq!(lost_keys(&home).0, lost, "nothing was given up");
    let trusted = ("PREAUTH_TRUST_CLOCK", "true");
    let done = abandon_with(&home, &[&lost, "--yes"], &[&late[..], &[trusted]].concat());
    assert!(done.status.success(), "{}", text(&done.stderr));
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
    // The sandbox prints a key and a secret on purpose, but never the master key.
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
