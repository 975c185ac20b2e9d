//! Formats JSON on several lines and leaves every value as it was written.

use serde::de::IgnoredAny;

use crate::printable::printable;

const INDENT: &str = "  ";
/// Maximum depth of indentation.
const MAX_DEPTH: usize = 32;
/// Maximum number of bytes shown of a body that is not JSON.
const SHOWN_BYTES: usize = 2_048;

/// A body for people: indented JSON, anything else as text. Control characters are escaped, so that
/// it cannot control the terminal.
pub(super) fn pretty(body: &[u8]) -> String {
    match std::str::from_utf8(body) {
        Ok(text) if serde_json::from_str::<IgnoredAny>(text).is_ok() => lines(text),
        _ => {
            let start = body.get(..SHOWN_BYTES).unwrap_or(body);
            let more = if body.len() > SHOWN_BYTES { "…" } else { "" };
            format!("{}{more}", printable(&String::from_utf8_lossy(start)))
        }
    }
}

/// Indents valid JSON without parsing its values: their order and their digits stay.
fn lines(json: &str) -> String {
    let mut out = String::with_capacity(json.len().saturating_mul(2));
    let mut level: usize = 0;
    let (mut in_text, mut escaped, mut opened) = (false, false, false);
    for character in json.chars() {
        if in_text {
            out.push_str(&printable(character.encode_utf8(&mut [0; 4])));
            (escaped, in_text) = (character == '\\' && !escaped, character != '"' || escaped);
            continue;
        }
        if character.is_ascii_whitespace() {
            continue;
        }
        let closes = matches!(character, '}' | ']');
        if closes {
            level = level.saturating_sub(1);
        }
        // An empty array or object stays on one line.
        if opened != closes {
            new_line(&mut out, level);
        }
        opened = matches!(character, '{' | '[');
        match character {
            ':' => out.push_str(": "),
            ',' => {
                out.push(',');
                new_line(&mut out, level);
            }
            other => out.push(other),
        }
        if opened {
            level = level.saturating_add(1);
        }
        in_text = character == '"';
    }
    out
}

fn new_line(out: &mut String, level: usize) {
    out.push('\n');
    out.push_str(&INDENT.repeat(level.min(MAX_DEPTH)));
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn json_is_set_in_and_its_values_stay_as_they_were_written() {
        let body = r#"{"z": 1.50,"a":[], "n":{"o":{},"t":"a,\"{b}\\"},"l":[1e2,null]}"#;
        let expected = r#"{
  "z": 1.50,
  "a": [],
  "n": {
    "o": {},
    "t": "a,\"{b}\\"
  },
  "l": [
    1e2,
    null
  ]
}"#;
        assert_eq!(pretty(body.as_bytes()), expected);
        assert_eq!(pretty(b"7"), "7");
    }

    #[test]
    fn untrusted_text_cannot_control_the_terminal() {
        assert_eq!(pretty("\u{1b}[2J".as_bytes()), r"\u{1b}[2J");
        assert_eq!(
            pretty("\"\u{9b}31m\u{202e}\"".as_bytes()),
            r#""\u{9b}31m\u{202e}""#
        );
        assert_eq!(pretty(&[0xff, b'a']), "\u{fffd}a");
        assert_eq!(pretty(&vec![b'x'; 5_000]).chars().count(), 2_049);
    }
}
