//! Settings that a running server takes anew at SIGHUP.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use reqwest::Method;
use serde_json::json;
use test_support::office::until_true;
use test_support::{
    Answer, Backend, Home, RawCaller, Server, due_date, on_each_database, server_program,
};

use crate::event_waits::{TOKEN, company};

const PATIENCE: Duration = Duration::from_mins(1);
const BEFORE: &str = "[rate_limit]\nrequests = 1000\n";

struct Reloadable {
    server: Server,
    file: PathBuf,
    erp: RawCaller,
    endpoint: String,
    said: usize,
}

impl Reloadable {
    async fn start(backend: Backend) -> Self {
        Self::start_after(backend, "unset RUST_LOG").await
    }

    /// `first` is done by the shell that becomes the server.
    async fn start_after(backend: Backend, first: &str) -> Self {
        let home = Home::new(backend).await;
        let file = home.folder().join("preauth.toml");
        write(&file, BEFORE);
        let mut shell = Command::new("bash");
        let script = format!("{first}; file=$1; shift; exec \"$0\" \"$@\" --config \"$file\"");
        shell.args(["-c", &script]).arg(server_program()).arg(&file);
        let nothing_more: [(&str, &str); 0] = [];
        let server = Server::start_program(shell, home, TOKEN, &nothing_more).await;
        let key = company(&server, "11222333000181").await;
        let platform = RawCaller::new(&server.platform_url, Some(TOKEN));
        let companies = platform.get("/api/platform/v1/companies").await.json();
        let id = companies["data"][0]["id"].as_str().unwrap();
        Self {
            endpoint: format!("/api/platform/v1/companies/{id}/webhook-endpoint"),
            erp: RawCaller::new(&server.base_url, Some(&key)),
            file,
            server,
            said: 0,
        }
    }

    fn signal(&self) {
        let id = self.server.process.id().to_string();
        let sent = Command::new("kill").args(["-HUP", &id]).status().unwrap();
        assert!(sent.success());
    }

    /// Writes the file, signals, and waits until the log says once more that it was read.
    async fn reload(&mut self, text: &str, said: &str) {
        write(&self.file, text);
        self.signal();
        let wait = async {
            while self.server.log().matches(said).count() <= self.said {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, wait).await;
        assert!(waited.is_ok(), "never {said}: {}", self.server.log());
    }

    async fn limit(&self) -> String {
        let listed = self.erp.get(PRE_AUTHORIZATIONS).await;
        assert_eq!(listed.status, 200, "{}", listed.text);
        listed.header("x-ratelimit-limit").to_owned()
    }

    /// Offers to a supplier that is invited by mail, always at the same address.
    async fn offer(&self, number: &str) {
        let body = json!({
            "supplier": {
                "cnpj": "11444777000161", "name": "Fornecedor Ltda.", "contactName": "Rui",
                "email": "financeiro@fornecedor.example.com",
            },
            "invoice": {
                "amount": 12500.5, "dueDate": due_date(60).to_string(), "number": number,
            },
        });
        let offered = self.erp.post_json(PRE_AUTHORIZATIONS, &body).await;
        assert_eq!(offered.status, 201, "{}", offered.text);
    }

    /// Waits until so many mails have this status.
    async fn until_mails(&self, status: &str, count: usize) {
        let platform = RawCaller::new(&self.server.platform_url, Some(TOKEN));
        let path = format!("/api/platform/v1/notices?status={status}");
        let what = format!("{count} mails {status}: {}", self.server.log());
        until_true(&what, async || {
            let found = platform.get(&path).await.json();
            found["data"].as_array().unwrap().len() == count
        })
        .await;
    }

    async fn register(&self) -> Answer {
        let platform = RawCaller::new(&self.server.platform_url, Some(TOKEN));
        let body = json!({
            "url": "http://127.0.0.1:9/webhooks",
            "events": ["pre_authorization.created"],
        })
        .to_string();
        let headers = [("content-type", "application/json")];
        platform
            .send(
                Method::PUT,
                &self.endpoint,
                &headers,
                Some(body.into_bytes()),
            )
            .await
    }
}

/// The values before and after that the log names of a setting.
#[track_caller]
fn logged<'a>(log: &'a str, setting: &str, message: &str) -> (&'a str, &'a str) {
    let [setting, message] = [("setting", setting), ("message", message)]
        .map(|(name, value)| format!("\"{name}\":\"{value}\""));
    let mut lines = log.lines();
    let line = lines
        .find(|line| line.contains(&setting) && line.contains(&message))
        .unwrap_or_else(|| panic!("no {setting} {message} in {log}"));
    let field = |name: &str| {
        let (_, rest) = line.split_once(&format!("\"{name}\":\"")).unwrap();
        rest.split_once('"').unwrap().0
    };
    (field("old"), field("new"))
}

fn write(file: &Path, text: &str) {
    std::fs::write(file, text).unwrap();
    let own = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(file, own).unwrap();
}

async fn a_running_server_takes_new_limits_networks_and_log_level(backend: Backend) {
    let mut running = Reloadable::start(backend).await;
    assert_eq!(running.limit().await, "1000");
    assert_eq!(running.register().await.status, 422);
    let probes = |log: &str| log.matches("\"/livez\"").count();
    let probe = RawCaller::new(&running.server.platform_url, None);
    assert_eq!(probe.get("/livez").await.status, 200);
    assert_eq!(probes(&running.server.log()), 0);

    let after = "[rate_limit]\nrequests = 900\n[mail]\ndaily_share = 3\n[log]\nlevel = \"debug\"\n\
                 [webhooks]\nallowed_networks = [\"127.0.0.0/8\"]\n[shutdown]\ngrace_seconds = 9\n";
    running.reload(after, "\"message\":\"read again\"").await;
    assert_eq!(running.limit().await, "900");
    let registered = running.register().await;
    assert!(registered.status < 300, "{}", registered.text);
    assert_eq!(probe.get("/livez").await.status, 200);
    let log = running.server.log();
    assert_eq!(probes(&log), 1, "{log}");
    for (setting, old, new) in [
        ("rate_limit.requests", "1000", "900"),
        ("mail.daily_share", "20", "3"),
        ("log.level", "info", "debug"),
        ("webhooks.allowed_networks", "(none)", "127.0.0.0/8"),
    ] {
        assert_eq!(logged(&log, setting, "changed"), (old, new), "{setting}");
    }
    let later = "changed, but the new value is used after a restart only";
    assert_eq!(
        logged(&log, "shutdown.grace_seconds", later),
        ("20", "9"),
        "{log}"
    );
    assert_eq!(log.matches("after a restart only").count(), 1);

    // A file that is not usable changes nothing.
    running
        .reload(
            "[rate_limit]\nrequests = 0\n[log]\nlevel = \"loud\"\n",
            "not usable",
        )
        .await;
    let log = running.server.log();
    let line = log
        .lines()
        .find(|line| line.contains("not usable"))
        .unwrap();
    assert!(
        line.contains("rate_limit.requests") && line.contains("log.level"),
        "{line}"
    );
    assert_eq!(running.limit().await, "900");
    running.said = log.matches("\"message\":\"read again\"").count();
    running.reload(BEFORE, "\"message\":\"read again\"").await;
    assert_eq!(running.limit().await, "1000");
    assert_eq!(running.register().await.status, 422);

    // A storm of signals, with a stop in its middle.
    for n in 0..50 {
        write(&running.file, if n % 2 == 0 { after } else { BEFORE });
        running.signal();
    }
    assert_eq!(probe.get("/livez").await.status, 200);
    let id = running.server.process.id().to_string();
    Command::new("kill").args(["-TERM", &id]).status().unwrap();
    running.signal();
    let ended = running.server.process.wait().unwrap();
    assert!(ended.success(), "{ended}");
}

async fn the_next_mail_follows_the_new_daily_share(backend: Backend) {
    let mut running = Reloadable::start(backend).await;
    let with_share = |share: u32| format!("{BEFORE}[mail]\ndaily_share = {share}\n");
    running
        .reload(&with_share(1), "\"message\":\"read again\"")
        .await;
    running.said = 1;
    running.offer("NF-1").await;
    running.until_mails("SENT", 1).await;
    running.offer("NF-2").await;
    running.until_mails("HELD", 1).await;
    running
        .reload(&with_share(9), "\"message\":\"read again\"")
        .await;
    running.offer("NF-3").await;
    running.until_mails("SENT", 2).await;
    // What was held before waits for the time that it was told.
    running.until_mails("HELD", 1).await;
}

async fn a_level_that_rust_log_decides_is_not_said_to_have_changed(backend: Backend) {
    let mut running = Reloadable::start_after(backend, "export RUST_LOG=info").await;
    let quiet = "[rate_limit]\nrequests = 900\n[log]\nlevel = \"error\"\n";
    running.reload(quiet, "\"message\":\"read again\"").await;
    let log = running.server.log();
    let told = log.lines().find(|line| line.contains("\"log.level\""));
    assert!(told.is_some_and(|line| line.contains("RUST_LOG")), "{log}");
    let other = log
        .lines()
        .find(|line| line.contains("\"rate_limit.requests\""));
    assert!(
        other.is_some_and(|line| line.contains("\"changed\"")),
        "{log}"
    );
}

on_each_database! {
    the_next_mail_follows_the_new_daily_share,
    a_running_server_takes_new_limits_networks_and_log_level,
    a_level_that_rust_log_decides_is_not_said_to_have_changed,
}
