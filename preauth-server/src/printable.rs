//! Texts from elsewhere, and amounts, where people read them.

use preauth_core::value::Money;

/// A text from elsewhere, unable to command the terminal or to turn the direction of writing.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_deceptive(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Whether a character commands, or hides, or turns what stands around it: a name that ends in
/// `fdp.exe` can be shown so that it ends in `exe.pdf`.
pub(crate) fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// An amount with both its decimals: `12500.50`.
pub(crate) fn reais(money: Money) -> String {
    let cents = money.cents();
    format!("{}.{:02}", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::{is_deceptive, printable};

    #[test]
    fn what_strangers_wrote_cannot_command_the_terminal() {
        let hostile = "ok\u{1b}[2J\r\n\u{9b}31m\u{202e}";
        assert_eq!(printable(hostile), r"ok\u{1b}[2J\r\n\u{9b}31m\u{202e}");
        assert_eq!(printable("Concreto e Aço"), "Concreto e Aço");
    }

    #[test]
    fn what_is_seen_deceives_nobody() {
        for character in "aÃ1 .-_…\u{a0}\u{301}\u{1f642}".chars() {
            assert!(!is_deceptive(character), "{character:?}");
        }
        for character in "\0\u{7f}\u{ad}\u{61c}\u{200d}\u{2028}\u{2069}\u{e0041}".chars() {
            assert!(is_deceptive(character), "{character:?}");
        }
    }
}
