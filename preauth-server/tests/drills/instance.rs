//! A server under a drill, at an address that stays the same across restarts.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use test_support::{Backend, Home, Sandbox};

use crate::chance::ROUNDS;
use crate::overlap::Disruption;
use crate::proxy::Proxy;

/// Files of a sandbox's data folder that a second sandbox on the same database needs.
const SHARED_FILES: [&str; 3] = ["master.key", "sandbox-credentials.json", "sandbox-id"];
/// The flag before the URL of a PostgreSQL database.
const DATABASE: &str = "--database";
/// Names an optimized build to be used in place of the tests' own.
const PRESENT: &str = "PRESENT_PREAUTH_SERVER";

pub(crate) struct Instance {
    build: PathBuf,
    flags: Vec<String>,
    front: Proxy,
    /// `None` while it is down.
    sandbox: Option<Sandbox>,
    data: PathBuf,
}

impl Instance {
    pub(crate) async fn start(build: &Path, flags: Vec<String>) -> Self {
        Self::start_in(build, Self::home().await, flags).await
    }

    /// Starts another instance on this one's PostgreSQL database.
    pub(crate) async fn start_beside(&self) -> Self {
        let home = Self::home().await;
        let data = home.folder().join("data");
        std::fs::create_dir(&data).unwrap();
        for file in SHARED_FILES {
            // The previous version has no sandbox ids.
            if self.data.join(file).exists() {
                std::fs::copy(self.data.join(file), data.join(file)).unwrap();
            }
        }
        Self::start_in(present_build(), home, self.flags.clone()).await
    }

    async fn start_in(build: &Path, home: Home, flags: Vec<String>) -> Self {
        let mut instance = Self {
            build: build.to_owned(),
            data: home.folder().join("data"),
            front: Proxy::to_service().await,
            sandbox: None,
            flags,
        };
        instance.start_again(home).await;
        instance
    }

    /// A folder of its own; the flags name the database.
    async fn home() -> Home {
        Home::new(Backend::Sqlite).await
    }

    /// Restarts it in its home.
    pub(crate) async fn start_again(&mut self, home: Home) {
        let on_postgresql = self.flags.iter().any(|flag| flag == DATABASE);
        let _ending = (!on_postgresql).then(|| Disruption::LeasesEnded.begin());
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        let sandbox = Sandbox::start_program(Command::new(&self.build), home, &flags).await;
        let address = sandbox.text("baseUrl").trim_start_matches("http://");
        self.front.lead_to(address);
        self.sandbox = Some(sandbox);
    }

    /// Its base URL, also after the next start.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.front.address())
    }

    /// Its data folder.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    pub(crate) const fn sandbox(&self) -> &Sandbox {
        self.sandbox.as_ref().expect("it is up")
    }

    /// Kills it; returns its home.
    pub(crate) fn kill(&mut self) -> Home {
        self.sandbox.take().expect("it is up").kill()
    }

    /// Kills it and starts it again at once.
    pub(crate) async fn kill_and_start(&mut self) {
        let home = self.kill();
        self.start_again(home).await;
    }

    /// Asks it to stop and waits for its end; returns whether it ended with success, and its home.
    pub(crate) async fn stop(&mut self) -> (bool, Home) {
        let _stopping = Disruption::Stopped.begin();
        let mut sandbox = self.sandbox.take().expect("it is up");
        let stopped = tokio::task::spawn_blocking(move || (sandbox.stop(), sandbox.kill()));
        stopped.await.unwrap()
    }

    /// Audits its database: histories, events and deliveries satisfy the rules.
    pub(crate) async fn passes_its_audit(&self) {
        self.present_build_runs("audit").await;
    }

    /// Migrates its database to the present build's schema.
    pub(crate) async fn is_migrated(&self) {
        self.present_build_runs("migrate").await;
    }

    async fn present_build_runs(&self, command: &str) {
        let mut process = Command::new(present_build());
        process.arg(command).arg("--data").arg(&self.data);
        // The server would refuse it as an unknown setting.
        process.env_remove(ROUNDS);
        let place = self.flags.iter().position(|flag| flag == DATABASE);
        process.args(place.map_or(&[][..], |place| &self.flags[place..place + 2]));
        let ended = tokio::task::spawn_blocking(move || process.output());
        let output = ended.await.unwrap().unwrap();
        let found = String::from_utf8_lossy(&output.stdout);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{found}{error}");
    }

    /// Redirects new connections at its address to another instance.
    pub(crate) fn give_way_to(&self, other: &Self) {
        let address = other.sandbox().text("baseUrl");
        self.front.lead_to(address.trim_start_matches("http://"));
    }

    /// Sends its process a signal, e.g. `STOP`.
    pub(crate) fn signal(&self, name: &str) {
        signal(self.sandbox().process_id(), name);
    }
}

/// The server under test.
pub(crate) fn present_build() -> &'static Path {
    static BUILD: LazyLock<PathBuf> = LazyLock::new(|| {
        let named = std::env::var_os(PRESENT).map(PathBuf::from);
        named.unwrap_or_else(|| env!("CARGO_BIN_EXE_preauth-server").into())
    });
    &BUILD
}

/// Sends a process a signal. After `STOP` none of its threads runs any more.
pub(crate) fn signal(process: u32, name: &str) {
    let sent = Command::new("kill")
        .args([format!("-{name}"), process.to_string()])
        .status();
    assert!(sent.unwrap().success(), "kill -{name} {process}");
    while name == "STOP" && !is_stopped(process) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Whether all threads of a process are stopped. One of them takes the signal, and on a busy machine the others
/// may read an answer before.
fn is_stopped(process: u32) -> bool {
    let mut threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    threads.all(|thread| {
        let stat = std::fs::read_to_string(thread.unwrap().path().join("stat")).unwrap_or_default();
        // The state follows the name, which is in parentheses.
        let state = stat.rsplit_once(") ").map(|(_, state)| state);
        state.is_some_and(|state| state.starts_with('T'))
    })
}
