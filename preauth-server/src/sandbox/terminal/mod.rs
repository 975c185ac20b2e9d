//! The sandbox's command line, on which the user plays supplier, company, bank and clock.
//!
//! A line is read (`input`), parsed (`terminal_command`, with the table of commands in `commands`),
//! executed by the same use cases that the platform API calls (`play`), and answered in a line or
//! two.

mod commands;
mod input;
mod play;
mod refused;
mod summary;
mod terminal_command;

use tokio::sync::mpsc;

use crate::telemetry::Console;

pub use play::Player;

use terminal_command::TerminalCommand;

/// The outcome of a line.
enum Outcome {
    /// A text to print, possibly empty.
    Answer(String),
    /// The sandbox must end.
    Quit,
}

/// Executes the lines of standard input until `quit`; never returns when the input ends before
/// that, because the sandbox continues without input.
pub async fn run(player: &Player, console: &Console) {
    if let Some(lines) = input::lines() {
        console.prompt(input::is_typed());
        let has_quit = run_lines(player, console, lines).await;
        console.prompt(false);
        if has_quit {
            return;
        }
    }
    std::future::pending::<()>().await;
}

/// Answers every line; returns whether the last one was `quit`.
async fn run_lines(player: &Player, console: &Console, mut lines: mpsc::Receiver<String>) -> bool {
    while let Some(line) = lines.recv().await {
        match answer(player, &line).await {
            Outcome::Answer(text) => console.print_answer(&text),
            Outcome::Quit => return true,
        }
    }
    false
}

async fn answer(player: &Player, line: &str) -> Outcome {
    let language = player.language;
    let command = match commands::read(line, language) {
        Ok(command) => command,
        Err(misread) => return Outcome::Answer(misread.text(language)),
    };
    let answered = match command {
        TerminalCommand::Empty => Ok(String::new()),
        TerminalCommand::Quit => return Outcome::Quit,
        TerminalCommand::Help => Ok(commands::help(language)),
        TerminalCommand::Now => Ok(player.now()),
        TerminalCommand::Advance(seconds) => player.advance(seconds).await,
        TerminalCommand::List => player.list().await,
        TerminalCommand::Show(id) => player.show(id).await,
        TerminalCommand::Act(id, command) => player.act(id, &command).await,
        TerminalCommand::Extend(id, extension) => player.extend(id, extension).await,
        TerminalCommand::EndExtension(id, end) => player.end_extension(id, end).await,
        TerminalCommand::Direct(invoice) => player.advance_directly(*invoice).await,
    };
    Outcome::Answer(answered.unwrap_or_else(|refused| refused.text(language)))
}
