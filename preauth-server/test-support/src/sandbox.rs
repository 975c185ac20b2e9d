//! A sandbox process per test, killed at the end.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use chrono::{Days, NaiveDate};
use preauth_client::Client;
use preauth_core::value::{Timestamp, calendar};
use preauth_server::clock::{Clock, SystemClock};
use serde_json::{Value, json};

use crate::{Backend, Home, RawCaller, server_program};

const START_DEADLINE: Duration = Duration::from_mins(1);

/// A running sandbox and its ready file.
pub struct Sandbox {
    process: Child,
    /// Taken by `kill`.
    home: Option<Home>,
    /// The ready file.
    pub ready: Value,
}

impl Sandbox {
    /// Starts a sandbox without a rate limit.
    pub async fn start(backend: Backend) -> Self {
        Self::start_with(backend, &["--rate-limit", "1000000"]).await
    }

    /// Starts a sandbox whose webhooks go to `url`.
    pub async fn start_sending_to(backend: Backend, url: &str) -> Self {
        let flags = ["--rate-limit", "1000000", "--webhook-url", url];
        Self::start_with(backend, &flags).await
    }

    /// Starts a sandbox with free ports, a home of its own, and these flags.
    pub async fn start_with(backend: Backend, flags: &[&str]) -> Self {
        Self::start_in(Home::of_a_sandbox(backend).await, flags).await
    }

    /// Starts a sandbox whose files may grow to `kib` KiB, as on a disk that is full beyond that.
    pub async fn start_on_a_small_disk(backend: Backend, kib: u32) -> Self {
        let mut shell = Command::new("bash");
        let limited = format!("trap '' XFSZ; ulimit -f {kib}; exec \"$0\" \"$@\"");
        shell.args(["-c", &limited]).arg(server_program());
        let flags = ["--rate-limit", "1000000"];
        Self::start_program(shell, Home::of_a_sandbox(backend).await, &flags).await
    }

    /// Starts a sandbox in `home`, which may contain what an earlier one left.
    pub async fn start_in(home: Home, flags: &[&str]) -> Self {
        Self::start_as(home, flags, &[]).await
    }

    /// The same, with these variables in its environment.
    pub async fn start_as(home: Home, flags: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut program = Command::new(server_program());
        program.envs(variables.iter().copied());
        Self::start_program(program, home, flags).await
    }

    /// Starts `program`, which runs this build or another.
    pub async fn start_program(mut program: Command, home: Home, flags: &[&str]) -> Self {
        let folder = home.folder();
        let ready_file = folder.join("ready.json");
        let _ = std::fs::remove_file(&ready_file);
        let log = std::fs::File::create(folder.join("log.txt")).unwrap();
        let process = program
            .env("LC_ALL", "C")
            .args([
                "sandbox",
                "--listen",
                "127.0.0.1:0",
                "--platform-listen",
                "127.0.0.1:0",
            ])
            .args(["--data".into(), folder.join("data")])
            .args(["--ready-file".into(), ready_file.clone()])
            .args(home.database_flags())
            .args(flags)
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut sandbox = Self {
            process,
            home: Some(home),
            ready: Value::Null,
        };
        sandbox.ready = sandbox.wait_until_ready(ready_file).await;
        sandbox
    }

    async fn wait_until_ready(&mut self, path: PathBuf) -> Value {
        let wait = async {
            loop {
                if let Ok(text) = std::fs::read_to_string(&path) {
                    return serde_json::from_str(&text).unwrap();
                }
                if let Some(status) = self.process.try_wait().unwrap() {
                    panic!("the sandbox ended with {status}: {}", self.log());
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = tokio::time::timeout(START_DEADLINE, wait).await;
        waited.unwrap_or_else(|_| panic!("the sandbox was not ready in time: {}", self.log()))
    }

    /// A string of the ready file.
    pub fn text(&self, name: &str) -> &str {
        self.ready[name]
            .as_str()
            .unwrap_or_else(|| panic!("{name} is not in the ready file"))
    }

    /// The client, with the key that has all permissions.
    pub fn client(&self) -> Client {
        Client::new(self.text("baseUrl"), self.text("apiKey")).unwrap()
    }

    /// Raw requests to the integration API with the key `name` of the ready file.
    pub fn caller(&self, name: &str) -> RawCaller {
        RawCaller::new(self.text("baseUrl"), Some(self.text(name)))
    }

    /// Raw requests to the integration API without any key.
    pub fn stranger(&self) -> RawCaller {
        RawCaller::new(self.text("baseUrl"), None)
    }

    /// Raw requests to the platform API with the operator token.
    pub fn platform(&self) -> RawCaller {
        RawCaller::new(self.text("platformUrl"), Some(self.text("platformToken")))
    }

    /// Raw requests to the supplier's pages.
    pub fn suppliers(&self) -> RawCaller {
        RawCaller::new(self.text("portalUrl"), None)
    }

    /// The path of the supplier's page of an operation, from the link that the sandbox printed.
    pub fn page_of(&self, operation: i64) -> String {
        let (log, portal) = (self.log(), self.text("portalUrl"));
        let mut links = log
            .split_whitespace()
            .filter_map(|it| it.strip_prefix(portal));
        let end = format!(".{operation}.1");
        let link = links.find(|path| path.ends_with(&end));
        link.unwrap_or_else(|| panic!("no link of {operation}: {log}"))
            .to_owned()
    }

    /// The id of the company on the platform.
    pub async fn company(&self) -> String {
        let sought = format!(
            "/api/platform/v1/companies?cnpj={}",
            self.text("companyCnpj")
        );
        let found = self.platform().get(&sought).await.json();
        found["data"][0]["id"].as_str().unwrap().to_owned()
    }

    /// Limits the company's offers to this term and amount.
    pub async fn limit_credit(&self, max_term_days: u32, max_invoice_amount: u32) {
        let (platform, company) = (self.platform(), self.company().await);
        let path = format!("/api/platform/v1/companies/{company}/credit-analysis");
        let credit = json!({"maxTermDays": max_term_days, "maxInvoiceAmount": max_invoice_amount});
        let headers = [("content-type", "application/json")];
        let body = Some(credit.to_string().into_bytes());
        let set = platform
            .send(reqwest::Method::PUT, &path, &headers, body)
            .await;
        assert_eq!(set.status, 200, "{}", set.text);
    }

    /// The file names in a folder of its data folder.
    pub fn names_in(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.data().join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect()
    }

    /// Its data folder.
    pub fn data(&self) -> PathBuf {
        self.home.as_ref().unwrap().folder().join("data")
    }

    /// The URL of its database; none if it is a file in the data folder.
    pub fn database_url(&self) -> Option<String> {
        self.home.as_ref().unwrap().database_flags().pop()
    }

    /// Its output so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.home.as_ref().unwrap().folder().join("log.txt")).unwrap()
    }

    /// The id of its process.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Kills it as a power cut would, and returns its home.
    pub fn kill(mut self) -> Home {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.home.take().unwrap()
    }

    /// Asks it to stop and waits; returns whether it exited with 0.
    pub fn stop(&mut self) -> bool {
        self.terminate();
        self.wait()
    }

    /// Asks it to stop.
    pub fn terminate(&self) {
        let id = self.process_id().to_string();
        Command::new("kill").args(["-TERM", &id]).status().unwrap();
    }

    /// Waits until it has exited; returns whether with 0.
    pub fn wait(&mut self) -> bool {
        self.process.wait().unwrap().success()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The date `days` from today in São Paulo.
pub fn due_date(days: u64) -> NaiveDate {
    let now: Timestamp = SystemClock.now();
    calendar::today(now)
        .checked_add_days(Days::new(days))
        .unwrap()
}
