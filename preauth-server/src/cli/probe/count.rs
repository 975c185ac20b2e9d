//! Counts what the receiver has done, by a command that its owner gives.

use std::process::{Command, Stdio};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use crate::language::Language;
use crate::printable::printable;

use super::words;

/// Maximum duration of the command.
const MAX_RUN: Duration = Duration::from_secs(30);
/// How often an effect that a receiver does later is looked for.
const LOOKS: u32 = 25;
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);
/// How long a second effect may take to show.
const SETTLING: Duration = Duration::from_secs(1);

/// A command that prints a number.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    command: String,
}

/// Why there is no number.
#[derive(Debug)]
pub(super) enum NoCount {
    NotRun(std::io::Error),
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
        let (sender, receiver) = oneshot::channel();
        let mut command = Command::new("sh");
        command.args(["-c", &self.command]).stdin(Stdio::null());
        // A thread of its own, which does not hold up the end of this program.
        std::thread::spawn(move || sender.send(command.output()));
        let output = match timeout(MAX_RUN, receiver).await {
            Ok(Ok(output)) => output.map_err(NoCount::NotRun)?,
            Ok(Err(_)) | Err(_) => return Err(NoCount::Slow),
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if !output.status.success() {
            return Err(NoCount::Failed(text(&output.stderr)));
        }
        let said = text(&output.stdout);
        let number = said.trim().parse();
        number.map_err(|_| NoCount::NoNumber(said))
    }

    /// The number once it is `expected`, or a few seconds have passed; and once a second effect had
    /// the time to show.
    pub(super) async fn settled(&self, expected: u64) -> Result<u64, NoCount> {
        for _ in 0..LOOKS {
            if self.count().await? >= expected {
                break;
            }
            sleep(BETWEEN_LOOKS).await;
        }
        sleep(SETTLING).await;
        self.count().await
    }
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
        let failed = count("echo no table >&2; exit 3").await.unwrap_err();
        assert!(failed.text(Language::English).contains("no table"));
        let no_number = count("echo many").await.unwrap_err();
        assert!(no_number.text(Language::English).contains("many"));
    }
}
