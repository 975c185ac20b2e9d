//! Counts what the receiver has done, by a command that its owner gives.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use crate::language::Language;
use crate::printable::printable;

use super::words;

/// Maximum duration of the command.
const MAX_RUN: Duration = Duration::from_secs(30);
/// How often the command is looked at when it has printed everything.
const BETWEEN_WAITS: Duration = Duration::from_millis(10);
/// Maximum bytes that are read of what it prints.
const MAX_OUTPUT_BYTES: u64 = 1024;
/// How often an effect that a receiver does later is looked for.
const LOOKS: u32 = 25;
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);
/// How long a further effect may take to show.
const SETTLING: Duration = Duration::from_secs(1);
/// How often a number that still grows is looked at again.
const MAX_SETTLING_LOOKS: u32 = 10;

/// A command that prints a number.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    command: String,
}

/// Why there is no number.
#[derive(Debug)]
pub(super) enum NoCount {
    NotRun(io::Error),
    Slow,
    Failed(String),
    NoNumber(String),
}

impl NoCount {
    pub(super) fn text(&self, language: Language) -> String {
        match self {
            Self::NotRun(cause) => words::count_not_run(language, cause),
            Self::Slow => words::COUNT_SLOW.of(language).to_owned(),
            Self::Failed(said) => words::count_failed(language, &printable(said.trim())),
            Self::NoNumber(said) => words::no_number(language, &printable(said.trim())),
        }
    }
}

impl Counter {
    pub(super) const fn new(command: String) -> Self {
        Self { command }
    }

    /// The number now.
    pub(super) async fn count(&self) -> Result<u64, NoCount> {
        let mut running = Running::start(&self.command).map_err(NoCount::NotRun)?;
        let ended = timeout(MAX_RUN, running.output()).await;
        let ended = ended.map_err(|_| NoCount::Slow)?;
        let (status, said, complaint) = ended.map_err(NoCount::NotRun)?;
        match said.trim().parse() {
            Ok(number) if status.success() => Ok(number),
            Err(_) if status.success() || is_cut(&said) => Err(NoCount::NoNumber(said)),
            Ok(_) | Err(_) if complaint.trim().is_empty() => {
                Err(NoCount::Failed(status.to_string()))
            }
            Ok(_) | Err(_) => Err(NoCount::Failed(complaint)),
        }
    }

    /// The number once it is `expected`, or a few seconds have passed; and once two looks agree, so that a
    /// further effect had the time to show.
    pub(super) async fn settled(&self, expected: u64) -> Result<u64, NoCount> {
        for _ in 0..LOOKS {
            if self.count().await? >= expected {
                break;
            }
            sleep(BETWEEN_LOOKS).await;
        }
        let mut before = self.count().await?;
        for _ in 0..MAX_SETTLING_LOOKS {
            sleep(SETTLING).await;
            let now = self.count().await?;
            if now == before {
                break;
            }
            before = now;
        }
        Ok(before)
    }
}

/// A command in a process group of its own, which is killed if it is dropped before its end.
struct Running {
    child: Child,
    has_ended: bool,
}

impl Running {
    fn start(command: &str) -> io::Result<Self> {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).process_group(0);
        shell.stdin(Stdio::null());
        shell.stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(Self {
            child: shell.spawn()?,
            has_ended: false,
        })
    }

    /// How it ended, and what it printed to both outputs.
    async fn output(&mut self) -> io::Result<(ExitStatus, String, String)> {
        let stdout = beginning(self.child.stdout.take(), false);
        let stderr = beginning(self.child.stderr.take(), true);
        let (stdout, stderr) = (stdout.await, stderr.await);
        loop {
            if let Some(status) = self.child.try_wait()? {
                self.has_ended = true;
                return Ok((
                    status,
                    stdout.unwrap_or_default(),
                    stderr.unwrap_or_default(),
                ));
            }
            sleep(BETWEEN_WAITS).await;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.has_ended {
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
    }
}

/// The beginning of what a process prints, on a thread of its own. A longer output meets a closed pipe, unless it
/// `is_drained`: warnings are no reason to fail.
fn beginning(
    pipe: Option<impl Read + Send + 'static>,
    is_drained: bool,
) -> oneshot::Receiver<String> {
    let (sender, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What came before an error counts.
            let _ = pipe.by_ref().take(MAX_OUTPUT_BYTES).read_to_end(&mut bytes);
            if is_drained {
                let _ = io::copy(&mut pipe, &mut io::sink());
            }
        }
        sender.send(String::from_utf8_lossy(&bytes).into_owned())
    });
    receiver
}

/// Whether there was more than is read.
fn is_cut(said: &str) -> bool {
    u64::try_from(said.len()).is_ok_and(|bytes| bytes >= MAX_OUTPUT_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn count(command: &str) -> Result<u64, NoCount> {
        Counter::new(command.to_owned()).count().await
    }

    #[tokio::test]
    async fn a_command_prints_a_number_or_the_reason_is_known() {
        assert_eq!(count("echo 42").await.unwrap(), 42);
        let with_warnings = "head -c 100000 /dev/zero | tr '\\0' x >&2; echo 42";
        assert_eq!(count(with_warnings).await.unwrap(), 42);
        let failed = count("echo no table >&2; exit 3").await.unwrap_err();
        assert!(failed.text(Language::English).contains("no table"));
        let silent = count("exit 3").await.unwrap_err();
        assert!(silent.text(Language::English).contains("exit status: 3"));
        let no_number = count("echo many").await.unwrap_err();
        assert!(no_number.text(Language::English).contains("many"));
        let endless = count("yes").await.unwrap_err();
        let text = endless.text(Language::English);
        assert!(text.contains("no number") && text.len() < 8192, "{text}");
    }
}
