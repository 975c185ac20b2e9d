//! The confirmation of irreversible commands.

use std::io::{self, BufRead, IsTerminal, Write};

use super::Failure;
use crate::language::{Language, Text};

/// The answers; the upper-case one is the default.
const CHOICE: Text = Text::new("[y/N]", "[s/N]");

/// Asks for confirmation at the terminal.
pub(crate) fn confirm(question: &str, language: Language) -> Result<(), Failure> {
    require_answerer()?;
    let (mut answers, mut screen) = (io::stdin().lock(), io::stderr().lock());
    ask(question, language, &mut answers, &mut screen)
}

/// Whether there is a terminal to ask at.
pub(super) fn require_answerer() -> Result<(), Failure> {
    if io::stdin().is_terminal() {
        Ok(())
    } else {
        Err(Failure::CannotAsk)
    }
}

/// Asks once; anything but a yes is a no.
fn ask(
    question: &str,
    language: Language,
    answers: &mut impl BufRead,
    screen: &mut impl Write,
) -> Result<(), Failure> {
    write!(screen, "{question} {} ", CHOICE.of(language))?;
    screen.flush()?;
    let mut answer = String::new();
    answers.read_line(&mut answer)?;
    if is_yes(&answer.trim().to_lowercase(), language) {
        Ok(())
    } else {
        Err(Failure::Declined)
    }
}

fn is_yes(answer: &str, language: Language) -> bool {
    match language {
        Language::English => matches!(answer, "y" | "yes"),
        Language::Portuguese => matches!(answer, "s" | "sim"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, Language, ask};
    use crate::language::Language::{English, Portuguese};

    fn answered(answer: &str, language: Language) -> (Result<(), Failure>, String) {
        let mut screen = Vec::new();
        let outcome = ask("Revoke it?", language, &mut answer.as_bytes(), &mut screen);
        (outcome, String::from_utf8(screen).unwrap())
    }

    #[test]
    fn only_a_yes_of_the_language_is_a_yes() {
        for yes in ["y\n", "Y\n", "yes\n", " YES \n", "y"] {
            assert!(answered(yes, English).0.is_ok(), "{yes:?}");
        }
        for yes in ["s\n", "S\n", "sim\n", " SIM \n", "s"] {
            assert!(answered(yes, Portuguese).0.is_ok(), "{yes:?}");
        }
        let declined = |answer, language| {
            let (outcome, _) = answered(answer, language);
            assert!(matches!(outcome, Err(Failure::Declined)), "{answer:?}");
        };
        for no in ["", "\n", "n\n", "yep\n", "no\ny\n", "\u{1b}[Ay\n", "sim\n"] {
            declined(no, English);
        }
        for no in ["", "\n", "n\n", "não\n", "y\n"] {
            declined(no, Portuguese);
        }
    }

    #[test]
    fn the_question_shows_that_no_is_the_default() {
        assert_eq!(answered("", English).1, "Revoke it? [y/N] ");
        assert_eq!(answered("", Portuguese).1, "Revoke it? [s/N] ");
    }
}
