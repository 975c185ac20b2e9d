//! The output: its width, its language, and whether it may have colours.

use std::io::{self, IsTerminal, Write};

use crate::language::{Language, Text};

use super::cell::Tone;

const NOTE: Text = Text::new("note", "observação");

/// The properties of the output.
#[derive(Clone, Copy, Debug)]
pub(in crate::admin) struct Screen {
    /// Characters per line; `None` when the output is not a terminal, and nothing is truncated
    /// then.
    pub(super) width: Option<usize>,
    pub(super) has_colours: bool,
    pub(in crate::admin) language: Language,
}

impl Screen {
    /// The properties of standard output.
    pub(in crate::admin) fn of_stdout(language: Language) -> Self {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        let size = rustix::termios::tcgetwinsize(&stdout);
        let columns = size.ok().map(|size| usize::from(size.ws_col));
        Self {
            width: columns.filter(|columns| is_terminal && *columns > 0),
            has_colours: is_terminal && colours_allowed(|name| std::env::var(name).ok()),
            language,
        }
    }

    /// The text, in the colour of its tone if colours are allowed.
    pub(super) fn paint(self, text: &str, tone: Tone) -> String {
        let code = match tone {
            _ if !self.has_colours => return text.to_owned(),
            Tone::Plain => return text.to_owned(),
            Tone::Title => 1,
            Tone::Good => 32,
            Tone::Waiting => 33,
            Tone::Bad => 31,
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// By the convention of `NO_COLOR`: any text in it disables colours.
fn colours_allowed(variable: impl Fn(&str) -> Option<String>) -> bool {
    let is_refused = variable("NO_COLOR").is_some_and(|text| !text.is_empty());
    let is_dumb = variable("TERM").is_none_or(|term| term == "dumb");
    !is_refused && !is_dumb
}

/// Writes a note to standard error, which scripts do not read.
pub(in crate::admin) fn print_note(text: &str, language: Language) -> io::Result<()> {
    let note = NOTE.of(language);
    writeln!(io::stderr().lock(), "{note}: {text}")
}

#[cfg(test)]
mod tests {
    use super::{Language, Screen, Tone, colours_allowed};

    #[test]
    fn no_color_and_dumb_terminals_have_no_colours() {
        let asked = |no_color: Option<&str>, term: Option<&str>| {
            let of = |name: &str| if name == "TERM" { term } else { no_color };
            colours_allowed(|name| of(name).map(ToOwned::to_owned))
        };
        assert!(asked(None, Some("xterm")));
        assert!(asked(Some(""), Some("xterm")));
        assert!(!asked(Some("1"), Some("xterm")));
        assert!(!asked(None, Some("dumb")));
        assert!(!asked(None, None));
    }

    #[test]
    fn a_screen_without_colours_gets_the_text_alone() {
        let screen = |has_colours| Screen {
            width: None,
            has_colours,
            language: Language::English,
        };
        assert_eq!(screen(false).paint("PAID", Tone::Good), "PAID");
        assert_eq!(
            screen(true).paint("PAID", Tone::Good),
            "\u{1b}[32mPAID\u{1b}[0m"
        );
    }
}
