//! A server in production mode, with its JSON log.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::{Home, server_program};

const START_DEADLINE: Duration = Duration::from_mins(1);

/// The variable with which a server logs everything, for tests of what must not be in a log.
pub const LOG_EVERYTHING: (&str, &str) = ("RUST_LOG", "trace");

/// A running server, killed at the end.
pub struct Server {
    /// The process; a test that stops it may wait for it.
    pub process: Child,
    /// Kept as long as any server uses it.
    _home: Arc<Home>,
    log: PathBuf,
    /// Where the integration API is.
    pub base_url: String,
    /// Where the platform API is.
    pub platform_url: String,
    /// Where the supplier's page is; empty without one.
    pub portal_url: String,
}

impl Server {
    /// Serves what is in `home`, with this operator token. On PostgreSQL several may share a home.
    pub async fn start_in(home: impl Into<Arc<Home>>, platform_token: &str) -> Self {
        let nothing_more: [(&str, &str); 0] = [];
        Self::start_with(home, platform_token, &nothing_more).await
    }

    /// The same with more environment variables.
    pub async fn start_with<V: AsRef<OsStr>>(
        home: impl Into<Arc<Home>>,
        platform_token: &str,
        variables: &[(&str, V)],
    ) -> Self {
        let program = Command::new(server_program());
        Self::start_program(program, home, platform_token, variables).await
    }

    /// Starts `program`, which runs the server.
    pub async fn start_program<V: AsRef<OsStr>>(
        mut program: Command,
        home: impl Into<Arc<Home>>,
        platform_token: &str,
        variables: &[(&str, V)],
    ) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let home = home.into();
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let log_path = home.folder().join(format!("server-{n}.log"));
        let log = std::fs::File::create(&log_path).unwrap();
        home.give_master_key();
        let process = program
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--platform-listen",
                "127.0.0.1:0",
            ])
            .args(["--data".into(), home.folder().join("data")])
            .args(home.database_flags())
            .envs([
                ("PREAUTH_PLATFORM_TOKEN", platform_token),
                // Required on PostgreSQL.
                ("PREAUTH_FILES_SHARED", "true"),
                ("RUST_LOG", "info"),
            ])
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Self {
            process,
            _home: home,
            log: log_path,
            base_url: String::new(),
            platform_url: String::new(),
            portal_url: String::new(),
        };
        let ready = tokio::time::timeout(START_DEADLINE, server.ready()).await;
        let ready = ready.unwrap_or_else(|_| panic!("not ready: {}", server.log()));
        let url = |name: &str| format!("http://{}", ready[name].as_str().unwrap());
        (server.base_url, server.platform_url) = (url("integration"), url("platform"));
        if ready.get("portal").is_some() {
            server.portal_url = url("portal");
        }
        server
    }

    /// The log line with the listeners' addresses.
    async fn ready(&mut self) -> Value {
        loop {
            let log = self.log();
            let lines = log
                .lines()
                .filter_map(|line| serde_json::from_str::<Value>(line).ok());
            if let Some(line) = lines.into_iter().find(|line| line["message"] == "ready") {
                return line;
            }
            if let Some(status) = self.process.try_wait().unwrap() {
                panic!("the server ended with {status}: {log}");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Its log so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Asks it to stop, waits, and returns its whole log.
    pub fn stop(mut self) -> String {
        let id = self.process.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status().unwrap();
        self.process.wait().unwrap();
        self.log()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
