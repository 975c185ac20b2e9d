//! What the example programs share: where their settings come from, and how they end.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

/// Reads `field` of the ready file that the program was given as its argument, for example by
/// `preauth-server sandbox --ready-file`. Without an argument, the environment's `variable`.
///
/// Fails, and names the file, when it cannot be read or the field is no text; fails when the variable
/// is not set.
pub fn setting(field: &str, variable: &str) -> Result<String, Box<dyn Error>> {
    let Some(ready_file) = env::args_os().nth(1) else {
        return env::var(variable).map_err(|error| format!("{variable}: {error}").into());
    };
    of_ready_file(Path::new(&ready_file), field)
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
    let mut text = error.to_string();
    let mut beneath = error.source();
    while let Some(cause) = beneath {
        text = format!("{text}: {cause}");
        beneath = cause.source();
    }
    eprintln!("error: {text}");
    ExitCode::FAILURE
}
