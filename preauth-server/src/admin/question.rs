//! The confirmation of irreversible commands.

use std::io::{self, BufRead, IsTerminal, Write};

use super::Failure;

/// Asks for confirmation at the terminal.
pub(crate) fn confirm(question: &str) -> Result<(), Failure> {
    somebody_can_answer()?;
    ask(question, &mut io::stdin().lock(), &mut io::stderr().lock())
}

/// Whether there is a terminal to ask at.
pub(super) fn somebody_can_answer() -> Result<(), Failure> {
    if io::stdin().is_terminal() {
        Ok(())
    } else {
        Err(Failure::CannotAsk)
    }
}

/// Asks once; anything but a yes is a no.
fn ask(question: &str, answers: &mut impl BufRead, screen: &mut impl Write) -> Result<(), Failure> {
    write!(screen, "{question} [y/N] ")?;
    screen.flush()?;
    let mut answer = String::new();
    answers.read_line(&mut answer)?;
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        Ok(())
    } else {
        Err(Failure::Declined)
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, ask};

    fn answered(answer: &str) -> (Result<(), Failure>, String) {
        let mut screen = Vec::new();
        let outcome = ask("Revoke it?", &mut answer.as_bytes(), &mut screen);
        (outcome, String::from_utf8(screen).unwrap())
    }

    #[test]
    fn only_a_yes_is_a_yes() {
        for yes in ["y\n", "Y\n", "yes\n", " YES \n", "y"] {
            assert!(answered(yes).0.is_ok(), "{yes:?}");
        }
        for no in ["", "\n", "n\n", "yep\n", "no\ny\n", "\u{1b}[Ay\n"] {
            assert!(matches!(answered(no).0, Err(Failure::Declined)), "{no:?}");
        }
    }

    #[test]
    fn the_question_shows_that_no_is_the_default() {
        assert_eq!(answered("").1, "Revoke it? [y/N] ");
    }
}
