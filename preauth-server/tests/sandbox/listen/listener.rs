//! A listener process per test, killed at the end.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use test_support::{Backend, Home, RawCaller, Sandbox};

const PATIENCE: Duration = Duration::from_mins(1);

/// A running `listen`, with JSON or text output.
pub(crate) struct Listener {
    process: Child,
    folder: TempDir,
    pub(crate) url: String,
}

/// `listen` with these arguments and no inherited variables.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_preauth-server"));
    command
        .arg("listen")
        .args(["--port", "0"])
        .args(arguments)
        .env_remove("WEBHOOK_SECRET")
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    command
}

/// The output of a `listen` that does not start.
pub(crate) fn refused(arguments: &[&str]) -> Output {
    let output = command(arguments).output().unwrap();
    assert!(!output.status.success());
    output
}

impl Listener {
    pub(crate) async fn start(arguments: &[&str]) -> Self {
        Self::run(command(arguments)).await
    }

    /// Runs a command made by [`command`].
    pub(crate) async fn run(mut command: Command) -> Self {
        let folder = TempDir::new().unwrap();
        let out = std::fs::File::create(printed_in(folder.path())).unwrap();
        let process = command
            .stdout(out.try_clone().unwrap())
            .stderr(out)
            .spawn()
            .unwrap();
        let mut listener = Self {
            process,
            folder,
            url: String::new(),
        };
        let begun = listener.until(|text| text.contains("http://")).await;
        let (_, after) = begun.split_once("http://").unwrap();
        let end = after.find(['"', ' ']).unwrap();
        listener.url = format!("http://{}", &after[..end]);
        listener
    }

    /// Its output so far, once the condition holds.
    pub(crate) async fn until(&self, is_reached: impl Fn(&str) -> bool) -> String {
        let wait = async {
            loop {
                let text = self.printed();
                if is_reached(&text) {
                    return text;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, wait).await;
        waited.unwrap_or_else(|_| panic!("not reached: {}", self.printed()))
    }

    /// The first `count` deliveries in its JSON output.
    pub(crate) async fn received(&self, count: usize) -> Vec<Value> {
        // Warnings are on other lines.
        let objects = |text: &str| -> Vec<String> {
            text.split_inclusive('\n')
                .filter(|line| line.starts_with('{') && line.ends_with('\n'))
                .map(ToOwned::to_owned)
                .collect()
        };
        let text = self.until(|text| objects(text).len() > count).await;
        objects(&text)[1..=count]
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Sends it a delivery, with or without a signature header.
    pub(crate) async fn send(&self, signature: Option<&str>, body: &str) -> u16 {
        let headers: Vec<_> = signature
            .map(|value| ("x-service-signature", value))
            .into_iter()
            .collect();
        let caller = RawCaller::new(&self.url, None);
        let method = reqwest::Method::POST;
        let answer = caller.send(method, "", &headers, Some(body.into()));
        let answer = answer.await;
        assert_eq!(answer.text, "", "a sender learns nothing but the status");
        answer.status
    }

    fn printed(&self) -> String {
        std::fs::read_to_string(printed_in(self.folder.path())).unwrap()
    }
}

fn printed_in(folder: &Path) -> PathBuf {
    folder.join("printed.txt")
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A listener with these arguments, and a sandbox that starts after it and sends to it.
pub(crate) async fn with_sandbox(arguments: &[&str]) -> (Listener, Sandbox) {
    let home = Home::new(Backend::Sqlite).await;
    // The sandbox has not written it yet.
    let ready = home.folder().join("ready.json");
    let secret = ["--secret-file", ready.to_str().unwrap()];
    let listener = Listener::start(&[&secret[..], arguments].concat()).await;
    let sandbox = Sandbox::start_in(home, &["--webhook-url", &listener.url]).await;
    (listener, sandbox)
}
