//! The rules of XML 1.0 that the reader leaves to its user.

use super::ContentMismatch;

/// Whether every character is allowed in a document.
pub(super) fn are_characters(text: &str) -> bool {
    text.chars().all(is_character)
}

pub(super) const fn is_character(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

pub(super) const fn is_space(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' ')
}

/// Whether a text is a name without colon.
pub(super) fn is_plain_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(begins_name) && characters.all(continues_name)
}

/// Prefix and local name; `None` when either is invalid.
pub(super) fn qualified(name: &str) -> Option<(Option<&str>, &str)> {
    let (prefix, local) = match name.split_once(':') {
        Some((prefix, local)) => (Some(prefix), local),
        None => (None, name),
    };
    (prefix.is_none_or(is_plain_name) && is_plain_name(local)).then_some((prefix, local))
}

const fn begins_name(c: char) -> bool {
    matches!(c,
        'A'..='Z' | '_' | 'a'..='z'
        | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
        | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}'
        | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

const fn continues_name(c: char) -> bool {
    begins_name(c)
        || matches!(c,
            '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// Checks the name in a reference `&…;`: a character by its number, or one of the five entities of
/// XML.
pub(super) fn check_reference(name: &str) -> Result<(), ContentMismatch> {
    let Some(number) = name.strip_prefix('#') else {
        return match name {
            "lt" | "gt" | "amp" | "apos" | "quot" => Ok(()),
            _ => Err(ContentMismatch::Entity),
        };
    };
    let number = match number.strip_prefix('x') {
        Some(hex) if hex.bytes().all(|it| it.is_ascii_hexdigit()) => u32::from_str_radix(hex, 16),
        None if number.bytes().all(|it| it.is_ascii_digit()) => number.parse(),
        _ => return Err(ContentMismatch::NotWellFormed),
    };
    let character = number.ok().and_then(char::from_u32);
    match character {
        Some(character) if is_character(character) => Ok(()),
        _ => Err(ContentMismatch::NotWellFormed),
    }
}

/// Checks an attribute's value between its quotes.
pub(super) fn check_value(value: &str) -> Result<(), ContentMismatch> {
    if value.contains('<') || !are_characters(value) {
        return Err(ContentMismatch::NotWellFormed);
    }
    for after in value.split('&').skip(1) {
        let (name, _) = after
            .split_once(';')
            .ok_or(ContentMismatch::NotWellFormed)?;
        check_reference(name)?;
    }
    Ok(())
}

/// The attributes of an element, or of a declaration: `name="value"`, a space before each.
pub(super) struct Attributes<'a>(pub(super) &'a str);

impl<'a> Iterator for Attributes<'a> {
    type Item = Result<(&'a str, &'a str), ContentMismatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.0.trim_start_matches(is_space);
        if rest.is_empty() {
            return None;
        }
        let is_apart = rest.len() < self.0.len();
        let one = one_attribute(rest).filter(|_| is_apart);
        // The rest after a broken one is ignored.
        self.0 = one.map_or("", |(_, _, after)| after);
        let one = one.map(|(name, value, _)| (name, value));
        Some(one.ok_or(ContentMismatch::NotWellFormed))
    }
}

/// Name, value, and the rest.
fn one_attribute(text: &str) -> Option<(&str, &str, &str)> {
    let (name, after) = text.split_once('=')?;
    let name = name.trim_end_matches(is_space);
    let (value, after) = quoted(after.trim_start_matches(is_space))?;
    Some((name, value, after))
}

/// A quoted text, and the rest.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|it| ['"', '\''].contains(it))?;
    text.get(1..)?.split_once(quote)
}

/// Checks a document type: a name, and the location of its declarations, which is never fetched.
pub(super) fn check_doctype(text: &str) -> Result<(), ContentMismatch> {
    let name_ends = text.find(|c| is_space(c) || c == '[');
    let (name, after) = text.split_at(name_ends.unwrap_or(text.len()));
    if qualified(name).is_none() {
        return Err(ContentMismatch::NotWellFormed);
    }
    let external = after.trim_start_matches(is_space);
    let after = match external.get(..6) {
        Some("SYSTEM") => literals(external.get(6..).unwrap_or_default(), 1),
        Some("PUBLIC") => literals(external.get(6..).unwrap_or_default(), 2),
        _ => Some(external),
    };
    let after = after.ok_or(ContentMismatch::NotWellFormed)?;
    match after.trim_start_matches(is_space).chars().next() {
        None => Ok(()),
        Some('[') => Err(ContentMismatch::InternalSubset),
        Some(_) => Err(ContentMismatch::NotWellFormed),
    }
}

/// Skips `count` quoted texts, a space before each.
fn literals(text: &str, count: usize) -> Option<&str> {
    (0..count).try_fold(text, |text, _| {
        let literal = text.trim_start_matches(is_space);
        let (inside, after) = quoted(literal)?;
        (literal.len() < text.len() && are_characters(inside)).then_some(after)
    })
}

/// Checks an XML declaration's content after `xml`: version, then encoding, then standalone.
pub(super) fn check_declaration(text: &str) -> Result<(), ContentMismatch> {
    let mut known = ["version", "encoding", "standalone"].into_iter();
    let mut has_version = false;
    for attribute in Attributes(text) {
        let (name, value) = attribute?;
        let is_next = known.by_ref().any(|it| it == name);
        let is_good = match name {
            "version" => {
                has_version = true;
                value.strip_prefix("1.").is_some_and(is_digits)
            }
            "standalone" => matches!(value, "yes" | "no"),
            _ => value.is_ascii() && !value.is_empty(),
        };
        if !(is_next && is_good) {
            return Err(ContentMismatch::NotWellFormed);
        }
    }
    if has_version {
        Ok(())
    } else {
        Err(ContentMismatch::NotWellFormed)
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
