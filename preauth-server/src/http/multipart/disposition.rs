//! A part's `Content-Disposition`: its name, and the name of its file.

use percent_encoding::percent_decode_str;

use super::FormFlaw;

/// The parsed header.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Disposition {
    pub(super) name: String,
    /// Present for a file, even an empty one.
    pub(super) file_name: Option<String>,
}

impl Disposition {
    /// Parses the header's value. Ambiguous values are refused: repeated parameters, unclosed
    /// quotes, character sets other than UTF-8.
    pub(super) fn parse(value: &[u8]) -> Result<Self, FormFlaw> {
        let text = std::str::from_utf8(value).map_err(|_| FormFlaw::FileName)?;
        let (kind, parameters) = text.split_once(';').unwrap_or((text, ""));
        if !kind.trim().eq_ignore_ascii_case("form-data") {
            return Err(FormFlaw::Nameless);
        }
        let (mut name, mut plain, mut extended) = (None, None, None);
        let mut rest = parameters;
        while let Some((key, value, after)) = parameter(rest).ok_or(FormFlaw::Nameless)? {
            rest = after;
            let known = match key.to_ascii_lowercase().as_str() {
                "name" => &mut name,
                "filename" => &mut plain,
                "filename*" => &mut extended,
                _ => continue,
            };
            if known.replace(value).is_some() {
                return Err(FormFlaw::Nameless);
            }
        }
        let file_name = match extended {
            Some(extended) => Some(decoded(&extended).ok_or(FormFlaw::FileName)?),
            None => plain.map(|plain| unescaped(&plain)),
        };
        Ok(Self {
            name: name.ok_or(FormFlaw::Nameless)?,
            file_name,
        })
    }
}

/// The next parameter and the text after its semicolon; `Some(None)` at the end, `None` when it is
/// malformed.
#[expect(clippy::option_option, reason = "the end is no failure")]
fn parameter(text: &str) -> Option<Option<(&str, String, &str)>> {
    let text = text.trim_start();
    if text.is_empty() {
        return Some(None);
    }
    let (key, after) = text.split_once('=')?;
    let after = after.trim_start();
    let (value, after) = if let Some(quoted) = after.strip_prefix('"') {
        unquoted(quoted)?
    } else {
        let end = after.find(';').unwrap_or(after.len());
        let (token, after) = after.split_at(end);
        (token.trim_end().to_owned(), after)
    };
    let after = after.trim_start();
    let after = if after.is_empty() {
        after
    } else {
        after.strip_prefix(';')?
    };
    Some(Some((key.trim(), value, after)))
}

/// The text up to the closing quote, and the rest after it. A backslash escapes a quote or itself;
/// before other characters it is literal, as in the paths that some browsers send.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.chars();
    loop {
        match characters.next()? {
            '"' => return Some((value, characters.as_str())),
            '\\' if characters.as_str().starts_with(['"', '\\']) => value.extend(characters.next()),
            other => value.push(other),
        }
    }
}

/// The escapes that browsers use for characters that would end the name or its line; all other
/// percent signs are literal.
const ESCAPED: [(&str, &str); 3] = [("%22", "\""), ("%0D", "\r"), ("%0A", "\n")];

fn unescaped(name: &str) -> String {
    let undo = |name: String, (escaped, meant): &(&str, &str)| name.replace(escaped, meant);
    ESCAPED.iter().fold(name.to_owned(), undo)
}

/// `UTF-8'language'percent-encoded` (RFC 8187).
fn decoded(extended: &str) -> Option<String> {
    let (charset, rest) = extended.split_once('\'')?;
    let (_language, encoded) = rest.split_once('\'')?;
    let is_whole = |piece: &str| {
        piece.as_bytes().iter().take(2).all(u8::is_ascii_hexdigit) && piece.len() >= 2
    };
    if !charset.eq_ignore_ascii_case("utf-8") || !encoded.split('%').skip(1).all(is_whole) {
        return None;
    }
    let text = percent_decode_str(encoded).decode_utf8().ok()?;
    Some(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::{Disposition, FormFlaw};

    fn file(parameters: &str) -> Option<String> {
        let value = format!("form-data; name=\"invoiceFile\"; {parameters}");
        let parsed = Disposition::parse(value.as_bytes()).ok()?;
        assert_eq!(parsed.name, "invoiceFile");
        parsed.file_name
    }

    #[test]
    fn a_file_name_is_the_text_that_was_sent() {
        for (parameters, name) in [
            ("filename=\"nota fiscal.pdf\"", "nota fiscal.pdf"),
            ("filename=nota.pdf", "nota.pdf"),
            ("FileName = \"a;b=c\" ; x=y", "a;b=c"),
            ("filename=\"não 🙂.pdf\"", "não 🙂.pdf"),
            (r#"filename="C:\notas\1.pdf""#, r"C:\notas\1.pdf"),
            (r#"filename="../../etc/passwd""#, "../../etc/passwd"),
            (r#"filename="a\"b\\c""#, r#"a"b\c"#),
            ("filename=\"50%25.pdf\"", "50%25.pdf"),
            ("filename=\"%22a%22%5C.pdf\"", r#""a"%5C.pdf"#),
            ("filename=\"\"", ""),
            ("filename*=UTF-8''n%C3%A3o.pdf", "não.pdf"),
            (
                "filename=\"nao.pdf\"; filename*=utf-8'pt'n%c3%a3o.pdf",
                "não.pdf",
            ),
        ] {
            assert_eq!(file(parameters).as_deref(), Some(name), "{parameters}");
        }
    }

    #[test]
    fn a_name_is_the_same_from_every_client() {
        let name = r#"nota "1" 100% \ é.pdf"#;
        for (writer, parameters) in [
            (
                "browsers, fetch, curl, requests 2.32",
                r#"filename="nota %221%22 100% \ é.pdf""#,
            ),
            (
                "httpx, urllib3 1.26",
                r#"filename="nota %221%22 100% \\ é.pdf""#,
            ),
            (
                "curl --form-escape, Go, our client",
                r#"filename="nota \"1\" 100% \\ é.pdf""#,
            ),
            (
                "Spring, and others by RFC 8187",
                r#"filename="nota"; filename*=UTF-8''nota%20%221%22%20100%25%20%5C%20%C3%A9.pdf"#,
            ),
        ] {
            assert_eq!(file(parameters).as_deref(), Some(name), "{writer}");
        }
    }

    #[test]
    fn an_ambiguous_disposition_is_refused() {
        for value in [
            "",
            "form-data",
            "attachment; name=\"a\"",
            "form-data; filename=\"a\"",
            "form-data; name=\"a\"; name=\"b\"",
            "form-data; name=\"a\"; filename=\"b\"; filename=\"c\"",
            "form-data; name=\"a",
            "form-data; name=\"a\" filename=\"b\"",
            "form-data; name=\"a\"; filename*=ISO-8859-1''n%E3o.pdf",
            "form-data; name=\"a\"; filename*=UTF-8''n%E3o.pdf",
            "form-data; name=\"a\"; filename*=UTF-8''n%3",
            "form-data; name=\"a\"; filename*=n.pdf",
        ] {
            assert!(Disposition::parse(value.as_bytes()).is_err(), "{value}");
        }
        let latin = Disposition::parse(b"form-data; name=\"a\"; filename=\"n\xE3o\"");
        assert!(matches!(latin, Err(FormFlaw::FileName)));
    }
}
