//! `serve`, as production runs it.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{Home, RawCaller};

const START_DEADLINE: Duration = Duration::from_mins(1);

/// A server in production, killed at the end.
pub(crate) struct Served {
    process: Child,
    token: String,
    integration: String,
    platform: String,
}

impl Served {
    /// Starts one at `home`, which several may share on PostgreSQL; each has a `name` of its own.
    pub(crate) async fn start(home: &Home, name: &str, token: &str) -> Self {
        let log = home.folder().join(format!("{name}.log"));
        let free = "127.0.0.1:0";
        let process = Command::new(env!("CARGO_BIN_EXE_preauth-server"))
            .args(["serve", "--listen", free, "--platform-listen", free])
            .args(["--data".into(), home.folder().join("data")])
            .args(home.database_flags())
            .env("PREAUTH_PLATFORM_TOKEN", token)
            .stdin(Stdio::null())
            .stderr(std::fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut served = Self {
            process,
            token: token.to_owned(),
            integration: String::new(),
            platform: String::new(),
        };
        let waited = tokio::time::timeout(START_DEADLINE, served.ready(&log)).await;
        let ready = waited.expect("it is ready in time");
        let url = |name: &str| format!("http://{}", ready[name].as_str().unwrap());
        (served.integration, served.platform) = (url("integration"), url("platform"));
        served
    }

    /// Raw requests to its integration API.
    pub(crate) fn caller(&self, key: &str) -> RawCaller {
        RawCaller::new(&self.integration, Some(key))
    }

    /// Raw requests to its platform API with the operator token.
    pub(crate) fn platform(&self) -> RawCaller {
        self.platform_with(&self.token)
    }

    /// The same with another token.
    pub(crate) fn platform_with(&self, token: &str) -> RawCaller {
        RawCaller::new(&self.platform, Some(token))
    }

    /// The line of its log that says where it listens.
    async fn ready(&mut self, log: &Path) -> Value {
        loop {
            let text = std::fs::read_to_string(log).unwrap();
            let lines = text.lines().map(|line| serde_json::from_str(line).ok());
            let ready = lines
                .flatten()
                .find(|line: &Value| line["message"] == "ready");
            if let Some(ready) = ready {
                return ready;
            }
            if let Some(status) = self.process.try_wait().unwrap() {
                panic!("it ended with {status}: {text}");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
