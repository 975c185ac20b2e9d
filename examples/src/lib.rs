//! Common to the example programs: reading settings and reporting the outcome.

use std::error::Error;
use std::iter::successors;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

/// The program's argument at this position, from 1.
#[must_use]
pub fn argument(place: usize) -> Option<PathBuf> {
    env::args_os().nth(place).map(PathBuf::from)
}

/// Reads `field` of a ready file, for example one that `preauth-server sandbox --ready-file` wrote.
/// Without a file, the environment's `variable`.
///
/// Fails, and names the file, when it cannot be read or the field is not a string; fails when the
/// variable is not set.
pub fn setting(
    ready_file: Option<PathBuf>,
    field: &str,
    variable: &str,
) -> Result<String, Box<dyn Error>> {
    let Some(ready_file) = ready_file else {
        return env::var(variable).map_err(|error| format!("{variable}: {error}").into());
    };
    of_ready_file(&ready_file, field)
        .map_err(|error| format!("ready file {}: {error}", ready_file.display()).into())
}

fn of_ready_file(path: &Path, field: &str) -> Result<String, Box<dyn Error>> {
    let ready: serde_json::Value = serde_json::from_slice(&fs::read(path)?)?;
    let value = ready.get(field).and_then(serde_json::Value::as_str);
    Ok(value
        .ok_or_else(|| format!("no text in {field}"))?
        .to_owned())
}

/// Exit status 0, or 1 with the error and its causes on standard error.
#[expect(clippy::print_stderr, reason = "a program reports its failure there")]
#[must_use]
pub fn end(outcome: Result<(), Box<dyn Error>>) -> ExitCode {
    let Err(error) = outcome else {
        return ExitCode::SUCCESS;
    };
    eprintln!("error: {}", chain(&*error));
    ExitCode::FAILURE
}

/// An error, followed by its causes.
#[must_use]
pub fn chain(error: &dyn Error) -> String {
    let texts = successors(Some(error), |&error| error.source()).map(ToString::to_string);
    texts.collect::<Vec<_>>().join(": ")
}
