//! What the example programs share: where their settings come from.

use std::error::Error;
use std::{env, fs};

/// Reads `field` of the ready file that the program was given as its argument, for example by
/// `preauth-server sandbox --ready-file`. Without an argument, the environment's `variable`.
///
/// Fails when the file cannot be read, the field is no text, or the variable is not set.
pub fn setting(field: &str, variable: &str) -> Result<String, Box<dyn Error>> {
    let Some(ready_file) = env::args_os().nth(1) else {
        return env::var(variable).map_err(|error| format!("{variable}: {error}").into());
    };
    let ready: serde_json::Value = serde_json::from_slice(&fs::read(ready_file)?)?;
    let value = ready.get(field).and_then(serde_json::Value::as_str);
    Ok(value.ok_or("the ready file has no such field")?.to_owned())
}
