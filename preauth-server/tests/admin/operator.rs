//! An operator at the command line, with a sandbox of their own.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use test_support::{Backend, Sandbox};

/// The demo company's head office.
pub(crate) const COMPANY: &str = "11.222.333/0001-81";
/// A registered supplier of the demo data.
pub(crate) const SUPPLIER: &str = "11.444.777/0001-61";
/// A tax id that the demo data does not use.
pub(crate) const NEW_COMPANY: &str = "45.723.001/0001-00";

/// The operator of a sandbox.
pub(crate) struct Operator {
    pub(crate) sandbox: Sandbox,
    folder: TempDir,
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Operator {
    pub(crate) async fn start() -> Self {
        Self::of(Sandbox::start(Backend::Sqlite).await)
    }

    pub(crate) fn of(sandbox: Sandbox) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { sandbox, folder }
    }

    /// The folder that commands run in.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a command without a terminal: no question can be answered.
    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        let variables = [
            ("PREAUTH_PLATFORM_URL", self.sandbox.text("platformUrl")),
            ("PREAUTH_PLATFORM_TOKEN", self.sandbox.text("platformToken")),
        ];
        preauth(self.folder.path(), arguments, &variables)
    }

    /// Runs a command with this standard input.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Done {
        let variables = [
            ("PREAUTH_PLATFORM_URL", self.sandbox.text("platformUrl")),
            ("PREAUTH_PLATFORM_TOKEN", self.sandbox.text("platformToken")),
        ];
        let mut command = command(self.folder.path(), arguments, &variables);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        drop(stdin);
        child.wait_with_output().unwrap().into()
    }

    /// Runs a command at a terminal of its own, where this is typed. What it writes is in `out`, as the terminal
    /// shows it.
    pub(crate) fn run_at_terminal(&self, arguments: &[&str], typed: &str) -> Done {
        let variables = [
            ("PREAUTH_PLATFORM_URL", self.sandbox.text("platformUrl")),
            ("PREAUTH_PLATFORM_TOKEN", self.sandbox.text("platformToken")),
            ("SHELL", "/bin/sh"),
        ];
        let words = [&[env!("CARGO_BIN_EXE_preauth-server")][..], arguments].concat();
        let quoted: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
        // It starts the shell with a new pseudo-terminal as its input and output.
        let mut terminal = in_folder(Command::new("script"), self.folder.path(), &variables);
        terminal
            .args(["--quiet", "--return", "--command", &quoted.join(" ")])
            .arg("/dev/null")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = terminal.spawn().unwrap();
        let mut keyboard = child.stdin.take().unwrap();
        keyboard.write_all(typed.as_bytes()).unwrap();
        drop(keyboard);
        let done = Done::from(child.wait_with_output().unwrap());
        let out = done.out.replace("\r\n", "\n");
        Done { out, ..done }
    }

    /// Starts a command, whose errors can be read.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        let variables = [
            ("PREAUTH_PLATFORM_URL", self.sandbox.text("platformUrl")),
            ("PREAUTH_PLATFORM_TOKEN", self.sandbox.text("platformToken")),
        ];
        let mut command = command(self.folder.path(), arguments, &variables);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// The text output of a command that succeeds.
    pub(crate) fn stdout(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{arguments:?}");
        done.out
    }

    /// The JSON output of a command that succeeds.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let text = self.stdout(&[arguments, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Creates an offer on the invoice `number` as an ERP does, and returns the operation's id.
    pub(crate) async fn offer(&self, number: &str) -> String {
        let body = test_support::offer_body(&self.sandbox, number);
        let path = preauth_client::wire::path::PRE_AUTHORIZATIONS;
        let answer = self.sandbox.caller("apiKey").post_json(path, &body).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        answer.json()["id"].to_string()
    }
}

/// Runs the binary in `folder` with only these variables.
pub(crate) fn preauth(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Done {
    command(folder, arguments, variables)
        .output()
        .unwrap()
        .into()
}

/// The binary, ready to run: it finds no server except those that the test started.
pub(crate) fn command(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let binary = Command::new(env!("CARGO_BIN_EXE_preauth-server"));
    let mut command = in_folder(binary, folder, variables);
    command.args(arguments).stdin(Stdio::null());
    command
}

/// A program that runs in `folder` with only these variables of ours.
fn in_folder(mut program: Command, folder: &Path, variables: &[(&str, &str)]) -> Command {
    let own = std::env::vars().filter(|(name, _)| name.starts_with("PREAUTH_"));
    own.for_each(|(name, _)| {
        program.env_remove(name);
    });
    program
        .env("TMPDIR", folder)
        .env("LC_ALL", "C")
        .envs(variables.iter().copied())
        .current_dir(folder);
    program
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self {
            code: output.status.code().unwrap(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

impl Done {
    /// Expects this exit code, these texts on standard error, and nothing on standard output.
    #[track_caller]
    pub(crate) fn failed(&self, code: i32, expected: &[&str]) {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{}", self.err);
        for part in expected {
            assert!(self.err.contains(part), "{part:?} in {:?}", self.err);
        }
    }
}

/// The value after `title` in a record.
#[track_caller]
pub(crate) fn value<'a>(record: &'a str, title: &str) -> &'a str {
    let mut lines = record.lines();
    let line = lines.find_map(|line| line.strip_prefix(title)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{title:?} in {record}"))
        .trim()
}
