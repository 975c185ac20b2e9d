//! Makes texts of third parties harmless in a mail.

use preauth_core::value::is_hidden;

/// Maximum number of characters; a longer name is cut.
const MAX_CHARACTERS: usize = 120;
/// An invisible character that prevents mail programs from turning a text into a link.
const INVISIBLE_BREAK: char = '\u{200b}';

/// The text on one line, cut, and changed so that no mail program turns it into a link.
///
/// The sender of an offer chooses some texts of the mail, and must not be able to send the reader
/// to another site through this server.
pub(super) fn quoted(text: &str) -> String {
    let shown: Vec<char> = text.chars().filter(|it| !is_hidden(*it)).collect();
    let mut quoted = String::with_capacity(text.len());
    for (index, letter) in shown.iter().enumerate().take(MAX_CHARACTERS) {
        quoted.push(*letter);
        let after = shown.get(index.saturating_add(1)..).unwrap_or_default();
        if begins_link(*letter, after) {
            quoted.push(INVISIBLE_BREAK);
        }
    }
    if shown.len() > MAX_CHARACTERS {
        quoted.push('…');
    }
    quoted
}

/// Whether a web or mail address may continue after the letter: `a.br`, `:/`, `@a`. The text after
/// a point must be as long as the shortest top-level domain, so that `S.A.` stays unchanged. Points
/// and at signs of other scripts count like those of ASCII, because name look-ups treat them the
/// same.
fn begins_link(letter: char, after: &[char]) -> bool {
    match (letter, after) {
        ('.' | '\u{3002}' | '\u{ff0e}' | '\u{ff61}', [first, second, ..]) => {
            first.is_alphabetic() && second.is_alphanumeric()
        }
        (':' | '/', [next, ..]) => *next == '/',
        ('@' | '\u{ff20}', [_, ..]) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn ordinary_texts_stay_as_they_are() {
        for text in [
            "Construtora Azul S.A.",
            "1.042/2026",
            "NF-1042/2026",
            "Ação & Irmãos 'X'",
            "",
        ] {
            assert_eq!(quoted(text), text);
        }
    }

    #[test]
    fn nothing_is_left_that_a_mail_program_makes_a_link_of() {
        for text in [
            "http://evil.example",
            "www.evil.example",
            "evil.example/x",
            "a@evil.example",
            "//evil.example",
            "evil\u{3002}example",
            "a\u{ff20}evil\u{ff0e}example",
        ] {
            let quoted = quoted(text);
            for point in ['.', '\u{3002}', '\u{ff0e}'] {
                let name = format!("evil{point}example");
                assert!(!quoted.contains(&name), "{quoted}");
            }
            assert!(
                !quoted.contains("://") && !quoted.contains("@e"),
                "{quoted}"
            );
            assert_eq!(quoted.replace('\u{200b}', ""), text);
        }
    }

    #[test]
    fn lines_hidden_characters_and_long_texts_are_cut() {
        assert_eq!(quoted("a\r\nBcc: x\u{202e}y\u{2028}z"), "aBcc: xyz");
        assert_eq!(quoted("a\u{61c}b\u{ad}c\u{e0041}d\u{3164}e"), "abcde");
        let long = quoted(&"é".repeat(255));
        assert_eq!(long.chars().count(), 121);
        assert!(long.ends_with("é…"), "{long}");
    }
}
