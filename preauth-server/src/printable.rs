//! Texts from elsewhere, on a terminal.

/// A text from elsewhere, unable to command the terminal or to turn the direction of writing.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        let is_unsafe = character.is_control()
            || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if is_unsafe {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn what_strangers_wrote_cannot_command_the_terminal() {
        let hostile = "ok\u{1b}[2J\r\n\u{9b}31m\u{202e}";
        assert_eq!(printable(hostile), r"ok\u{1b}[2J\r\n\u{9b}31m\u{202e}");
        assert_eq!(printable("Concreto e Aço"), "Concreto e Aço");
    }
}
