//! Standard output, on which the sandbox's story, its answers and a prompt share one screen.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tracing_subscriber::fmt::MakeWriter;

const PROMPT: &str = "> ";
/// Moves to the left edge, and clears the line.
const CLEAR_LINE: &str = "\r\u{1b}[K";
/// Aligns answers with the story's sentences.
const INDENT: &str = "          ";

/// Prints whole lines above the prompt, if there is one; clones share the screen.
#[derive(Clone, Debug, Default)]
pub struct Console(Arc<AtomicBool>);

impl Console {
    /// Shows or hides the prompt from now on.
    pub fn prompt(&self, shown: bool) {
        let was_shown = self.0.swap(shown, Ordering::SeqCst);
        let end = if was_shown && !shown { CLEAR_LINE } else { "" };
        self.print(end);
    }

    /// Prints an answer of any number of lines; nothing when it is empty.
    pub fn print_answer(&self, answer: &str) {
        let lines = answer.lines().map(|line| format!("{INDENT}{line}\n"));
        self.print(&lines.collect::<String>());
    }

    fn print(&self, lines: &str) {
        // A closed output is ignored.
        let _ = self.write_all_of(lines.as_bytes());
    }

    fn write_all_of(&self, lines: &[u8]) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        let is_prompting = self.0.load(Ordering::SeqCst);
        if is_prompting {
            stdout.write_all(CLEAR_LINE.as_bytes())?;
        }
        stdout.write_all(lines)?;
        if is_prompting {
            stdout.write_all(PROMPT.as_bytes())?;
        }
        stdout.flush()
    }
}

impl Write for Console {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        self.write_all_of(lines)?;
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

impl<'a> MakeWriter<'a> for Console {
    type Writer = Self;

    fn make_writer(&'a self) -> Self::Writer {
        self.clone()
    }
}
