//! A `--count-command` that does not end is killed with all that it has started.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use super::{command, probe};

const PATIENCE: Duration = Duration::from_mins(1);
const NOBODY: &str = "http://127.0.0.1:1/webhooks";

/// A command that waits for a process of its own.
struct Hanging {
    folder: TempDir,
}

impl Hanging {
    fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    fn started(&self) -> PathBuf {
        self.folder.path().join("started")
    }

    fn command(&self) -> String {
        format!("sleep 1000 & echo $! > {}; wait", self.started().display())
    }

    /// The process that it waits for.
    async fn process(&self) -> PathBuf {
        let id = || std::fs::read_to_string(self.started()).unwrap_or_default();
        until(|| id().ends_with('\n')).await;
        Path::new("/proc").join(id().trim())
    }
}

async fn until(condition: impl Fn() -> bool) {
    let met = tokio::time::timeout(PATIENCE, async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    met.await.expect("in time");
}

/// Waits until a process has ended, whether or not anybody has asked how.
async fn ended(process: &Path) {
    until(|| {
        let stat = std::fs::read_to_string(process.join("stat"));
        stat.map_or(true, |stat| stat.contains(") Z "))
    })
    .await;
}

#[tokio::test]
async fn a_count_command_that_hangs_is_killed_with_what_it_started() {
    let hanging = Hanging::new();
    let output = probe(&[NOBODY, "--count-command", &hanging.command()]).await;
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        message.contains("did not end within 30 s and was killed; give one that prints"),
        "{message}"
    );
    ended(&hanging.process().await).await;
}

#[tokio::test]
async fn a_count_command_ends_with_an_interrupted_probe() {
    let hanging = Hanging::new();
    let mut probing = command(&[NOBODY, "--count-command", &hanging.command()])
        .spawn()
        .unwrap();
    let process = hanging.process().await;
    let id = probing.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status();
    assert!(sent.unwrap().success());
    let status = tokio::task::spawn_blocking(move || probing.wait());
    assert_eq!(status.await.unwrap().unwrap().code(), Some(130));
    ended(&process).await;
}
