//! The process: start, refusal to start, stop, and what it leaves behind.

use std::path::Path;
use std::process::{Command, Output};

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use test_support::{
    Backend, Home, Sandbox, TestReceiver, offer_body, on_each_database, write_secret,
};

on_each_database! {
    the_private_listener_asks_for_the_operator_token_and_nothing_else_opens_it,
    an_acknowledged_offer_survives_a_kill,
    it_stops_when_asked_to,
    a_wrong_master_key_stops_the_start,
    a_sandbox_whose_endpoint_was_removed_starts_with_a_new_one,
}

pub(crate) fn preauth(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_preauth-server"))
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(folder)
        .output()
        .unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

async fn the_private_listener_asks_for_the_operator_token_and_nothing_else_opens_it(
    backend: Backend,
) {
    let sandbox = Sandbox::start(backend).await;
    let platform = sandbox.text("platformUrl");
    let path = "/api/platform/v1/companies";
    for token in [None, Some("wrong"), Some(sandbox.text("apiKey"))] {
        let answer = test_support::RawCaller::new(platform, token)
            .get(path)
            .await;
        assert_eq!(
            answer.refusal(),
            (401, "PLATFORM_TOKEN_INVALID".to_owned()),
            "{token:?}"
        );
    }
    let stranger = test_support::RawCaller::new(platform, None);
    assert_eq!(stranger.get("/livez").await.status, 200);
    assert_eq!(stranger.get("/readyz").await.status, 200);
    let operator = Some(sandbox.text("platformToken"));
    let public = test_support::RawCaller::new(sandbox.text("baseUrl"), operator);
    assert_eq!(
        public.get(PRE_AUTHORIZATIONS).await.code(),
        "API_KEY_INVALID"
    );
}

async fn an_acknowledged_offer_survives_a_kill(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let body = offer_body(&sandbox, "NF-1");
    let created = sandbox
        .caller("apiKey")
        .post_json(PRE_AUTHORIZATIONS, &body)
        .await;
    assert_eq!(created.status, 201);
    let sandbox = Sandbox::start_in(sandbox.kill(), &[]).await;
    let found = sandbox
        .caller("apiKey")
        .get(&format!("{PRE_AUTHORIZATIONS}/1"))
        .await;
    assert_eq!(found.text, created.text);
}

async fn it_stops_when_asked_to(backend: Backend) {
    assert!(Sandbox::start(backend).await.stop(), "it ends with success");
}

#[tokio::test]
async fn a_database_that_another_process_has_is_refused() {
    let home = Home::new(Backend::Sqlite).await;
    let path = home.folder().join("data");
    let first = Sandbox::start_in(home, &[]).await;
    let data = path.to_str().unwrap();
    let listen = [
        "--listen",
        "127.0.0.1:0",
        "--platform-listen",
        "127.0.0.1:0",
    ];
    let second = preauth(
        &path,
        &[&["sandbox", "--data", data], &listen[..]].concat(),
        &[],
    );
    assert!(!second.status.success());
    let message = text(&second.stderr);
    assert!(
        message.contains("another server has this database open"),
        "{message}"
    );
    drop(first);
}

#[test]
fn config_check_prints_every_value_its_source_and_all_problems() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("preauth.toml"),
        "listen = \"127.0.0.1:9\"\n[rate_limit]\nrequests = 7\n",
    )
    .unwrap();
    let check = ["config", "check", "--config", "preauth.toml"];
    let secret = ("PREAUTH_PLATFORM_TOKEN", "0123456789abcdef");
    let good = preauth(folder.path(), &check, &[secret]);
    let report = text(&good.stdout);
    assert!(good.status.success(), "{report}");
    assert!(!report.contains(secret.1), "{report}");
    for line in [
        "rate_limit.requests",
        "file",
        "environment",
        "default",
        "configuration is usable",
    ] {
        assert!(report.contains(line), "{line}: {report}");
    }
    let wrong = [
        ("PREAUTH_PLATFORM_LISTEN", "0.0.0.0:1"),
        ("PREAUTH_LISTEN", "x"),
        ("PREAUTH_NONE", "1"),
    ];
    let bad = preauth(folder.path(), &check, &wrong);
    let message = text(&bad.stderr);
    assert!(!bad.status.success());
    for problem in [
        "not a loopback address",
        "listen must be",
        "PREAUTH_NONE is not a setting",
    ] {
        assert!(message.contains(problem), "{problem}: {message}");
    }
}

#[test]
fn migrate_brings_an_empty_folder_up_to_date_and_may_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let output = preauth(folder.path(), &["migrate"], &[]);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    assert!(folder.path().join("preauth-data/preauth.db").exists());
}

async fn a_wrong_master_key_stops_the_start(backend: Backend) {
    let sandbox = Sandbox::start(backend).await;
    let home = sandbox.kill();
    let data = home.folder().join("data");
    let database = home.database_flags();
    for replace in [true, false] {
        std::fs::remove_file(data.join("master.key")).unwrap();
        if replace {
            write_secret(&data.join("master.key"), &"ab".repeat(32));
        }
        let arguments = [
            "serve",
            "--data",
            data.to_str().unwrap(),
            "--listen",
            "127.0.0.1:0",
            "--platform-listen",
            "127.0.0.1:0",
        ];
        let database = database.iter().map(String::as_str);
        let arguments: Vec<_> = arguments.into_iter().chain(database).collect();
        let token = ("PREAUTH_PLATFORM_TOKEN", "0123456789abcdef");
        let shared = ("PREAUTH_FILES_SHARED", "true");
        let output = preauth(home.folder(), &arguments, &[token, shared]);
        assert!(!output.status.success());
        let message = text(&output.stderr);
        let expected = if replace || backend == Backend::Sqlite {
            "sealed with another master key"
        } else {
            // Other instances may run, so the server creates no key.
            assert!(!data.join("master.key").exists());
            "there is no master key file"
        };
        assert!(message.contains(expected), "{message}");
    }
}

async fn a_sandbox_whose_endpoint_was_removed_starts_with_a_new_one(backend: Backend) {
    let receiver = TestReceiver::start().await;
    let sandbox = Sandbox::start(backend).await;
    let platform = sandbox.platform();
    let company = sandbox.company().await;
    let endpoint = format!("/api/platform/v1/companies/{company}/webhook-endpoint");
    let deleted = platform
        .send(reqwest::Method::DELETE, &endpoint, &[], None)
        .await;
    assert_eq!(deleted.status, 204, "{}", deleted.text);
    let sandbox = Sandbox::start_in(sandbox.kill(), &["--webhook-url", &receiver.url()]).await;
    let body = offer_body(&sandbox, "NF-1");
    assert_eq!(
        sandbox
            .caller("apiKey")
            .post_json(PRE_AUTHORIZATIONS, &body)
            .await
            .status,
        201
    );
    receiver.arrived(1, sandbox.text("webhookSecret")).await;
}
