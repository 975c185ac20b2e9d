//! A PostgreSQL server of a drill's own, which it may stop and start. It syncs to disk.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/with-postgres");
/// Says where the server is, then hands each line to `pg_ctl` and says how that ended.
const COMMANDS: &str = r#"
    echo "$POSTGRES_TEST_URL"
    while read -r arguments; do
        "$POSTGRES_TEST_CTL" $arguments >/dev/null
        echo "$?"
    done
"#;

/// The server; it ends with the drill, however that ends.
pub(crate) struct OwnCluster {
    url: String,
    control: Arc<Mutex<Control>>,
}

struct Control {
    /// The script ends when this pipe does.
    commands: Option<ChildStdin>,
    outcomes: BufReader<ChildStdout>,
    script: Child,
}

impl OwnCluster {
    pub(crate) fn start() -> Self {
        let mut script = Command::new(SCRIPT)
            .args(["sh", "-c", COMMANDS])
            .env("POSTGRES_TEST_FSYNC", "on")
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
        Self {
            url,
            control: Arc::new(Mutex::new(control)),
        }
    }

    /// The URL of an empty database.
    pub(crate) fn url(&self) -> String {
        format!("{}/postgres", self.url)
    }

    /// Has `pg_ctl` do something, e.g. `--mode fast stop`, and waits until it is done.
    pub(crate) async fn control(&self, arguments: &'static str) {
        let control = Arc::clone(&self.control);
        let done = tokio::task::spawn_blocking(move || {
            let mut control = control.lock().unwrap();
            let commands = control.commands.as_mut().unwrap();
            writeln!(commands, "{arguments}").unwrap();
            control.next_line()
        });
        assert_eq!(done.await.unwrap(), "0", "pg_ctl {arguments}");
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
