//! What the example programs share: where their settings come from, and how they end.

use std::error::Error;
use std::iter::successors;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

/// The program's argument at this place, from 1.
#[must_use]
pub fn argument(place: usize) -> Option<PathBuf> {
    env::args_os().nth(place).map(PathBuf::from)
}

/// Reads `field` of a ready file, for example one that `preauth-server sandbox --ready-file` wrote.
/// Without a file, the environment's `variable`.
///
/// Fails, and names the file, when it cannot be read or the field is no text; fails when the variable
/// is not set.
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

/// How a program ends: with 0, or with 1 and the error, followed by its causes, on standard error.
#[expect(clippy::print_stderr, reason = "that is where a program says why")]
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
