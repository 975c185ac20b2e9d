//! A PostgreSQL server for one test, which may stop and start it. It syncs to disk.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/with-postgres");
/// Prints the URLs of the server and its standby, then passes each input line to the `pg_ctl` of
/// one of them and prints its exit status.
const COMMANDS: &str = r#"
    echo "$POSTGRES_TEST_URL"
    echo "${POSTGRES_TEST_STANDBY_URL:-}"
    while read -r server arguments; do
        if [ "$server" = standby ]; then ctl=$POSTGRES_TEST_STANDBY_CTL; else ctl=$POSTGRES_TEST_CTL; fi
        "$ctl" $arguments >/dev/null
        echo "$?"
    done
"#;

/// The server; it stops with the test, even if the test fails.
pub struct OwnCluster {
    url: String,
    /// Empty without a standby.
    standby_url: String,
    control: Arc<Mutex<Control>>,
}

struct Control {
    /// The script ends when this pipe closes.
    commands: Option<ChildStdin>,
    outcomes: BufReader<ChildStdout>,
    script: Child,
}

impl OwnCluster {
    /// One server.
    pub fn start() -> Self {
        Self::start_script("off")
    }

    /// A server with a standby that streams from it.
    pub fn start_with_standby() -> Self {
        Self::start_script("on")
    }

    fn start_script(standby: &str) -> Self {
        let mut script = Command::new(SCRIPT)
            .args(["sh", "-c", COMMANDS])
            .env("POSTGRES_TEST_FSYNC", "on")
            .env("POSTGRES_TEST_STANDBY", standby)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut control = Control {
            commands: script.stdin.take(),
            outcomes: BufReader::new(script.stdout.take().unwrap()),
            script,
        };
        let url = control.next_line();
        assert!(!url.is_empty(), "{SCRIPT} started no server");
        let standby_url = control.next_line();
        Self {
            url,
            standby_url,
            control: Arc::new(Mutex::new(control)),
        }
    }

    /// The URL of an empty database.
    pub fn url(&self) -> String {
        format!("{}/postgres", self.url)
    }

    /// The URL of the same database on the standby.
    pub fn standby_url(&self) -> String {
        format!("{}/postgres", self.standby_url)
    }

    /// Runs `pg_ctl`, e.g. `--mode fast stop`, and waits until it is done.
    pub async fn control(&self, arguments: &str) {
        self.command(format!("primary {arguments}")).await;
    }

    /// Runs the standby's `pg_ctl`, e.g. `promote`, and waits until it is done.
    pub async fn control_standby(&self, arguments: &str) {
        self.command(format!("standby {arguments}")).await;
    }

    async fn command(&self, command: String) {
        let control = Arc::clone(&self.control);
        let sent = command.clone();
        let done = tokio::task::spawn_blocking(move || {
            let mut control = control.lock().unwrap();
            let commands = control.commands.as_mut().unwrap();
            writeln!(commands, "{sent}").unwrap();
            control.next_line()
        });
        assert_eq!(done.await.unwrap(), "0", "pg_ctl of {command}");
    }
}

impl Control {
    fn next_line(&mut self) -> String {
        let mut line = String::new();
        self.outcomes.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        drop(self.commands.take());
        let _ = self.script.wait();
    }
}
