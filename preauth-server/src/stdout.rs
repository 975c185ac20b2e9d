//! Standard output of commands that print and end.

use std::io::{self, ErrorKind, Write};

/// Standard output takes no more, as on a full disk.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output")]
pub(crate) struct OutputError(#[source] pub(crate) io::Error);

/// Prints a text, and an end of line where it has none. A reader that closes the pipe, as `head` does, has read
/// enough: no error. (`println!` would panic on either.)
pub(crate) fn print(text: &str) -> Result<(), OutputError> {
    let mut stdout = io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.write_all(end.as_bytes()))
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(OutputError(error)),
        _ => Ok(()),
    }
}
