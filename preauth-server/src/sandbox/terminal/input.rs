//! Lines from standard input.

use std::io::{self, BufRead, IsTerminal, Read};

use tokio::sync::mpsc;

/// Maximum length of a line; longer ones are cut.
const LINE_LIMIT_BYTES: u64 = 1_000;
/// Maximum number of lines that are read ahead.
const READ_AHEAD: usize = 16;

/// The lines of standard input, read on a thread of their own; `None` when this process must not
/// read it.
pub(super) fn lines() -> Option<mpsc::Receiver<String>> {
    if is_in_the_background() {
        return None;
    }
    let (sender, receiver) = mpsc::channel(READ_AHEAD);
    // Not a task of the runtime: a read that never ends would delay the end of the process.
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Ok(Some(line)) = next_line(&mut input) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    Some(receiver)
}

/// Whether a person types: both ends are a terminal.
pub(super) fn is_typed() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Whether the shell started this as a background job, which would be stopped when it reads from
/// the terminal. Other inputs can always be read.
fn is_in_the_background() -> bool {
    let foreground = rustix::termios::tcgetpgrp(io::stdin());
    foreground.is_ok_and(|group| group != rustix::process::getpgrp())
}

/// The next line without its end; `None` at the end of the input.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    if input.take(LINE_LIMIT_BYTES).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if !line.ends_with(b"\n") {
        input.skip_until(b'\n')?;
    }
    Ok(Some(String::from_utf8_lossy(&line).trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::next_line;

    #[test]
    fn lines_are_bounded_and_the_last_needs_no_end() {
        let text = format!("pay 1\r\n\n{}\nlist", "x".repeat(5_000));
        let mut input = text.as_bytes();
        let mut next = || next_line(&mut input).unwrap();
        assert_eq!(next().as_deref(), Some("pay 1"));
        assert_eq!(next().as_deref(), Some(""));
        assert_eq!(next().map(|line| line.len()), Some(1_000));
        assert_eq!(next().as_deref(), Some("list"));
        assert_eq!(next(), None);
    }
}
