//! The language of a page: the one that the reader chose, otherwise the one that the browser prefers.

use salvo::http::Request;
use salvo::http::header::ACCEPT_LANGUAGE;

use crate::language::Language;

use super::cookies::cookie;

/// The cookie that keeps the reader's choice.
pub(in crate::http) const COOKIE: &str = "preauth_language";
/// How long it is kept: a year.
pub(in crate::http) const COOKIE_SECONDS: i64 = 365 * 24 * 60 * 60;

/// The language for a request.
pub(in crate::http) fn of_request(req: &Request) -> Language {
    let chosen = cookie(req, COOKIE).and_then(|text| parse(&text));
    chosen.unwrap_or_else(|| {
        let header = req.headers().get(ACCEPT_LANGUAGE);
        preferred(header.and_then(|it| it.to_str().ok()).unwrap_or_default())
    })
}

/// A language as cookie and form write it.
pub(in crate::http) fn parse(text: &str) -> Option<Language> {
    match text {
        "pt" => Some(Language::Portuguese),
        "en" => Some(Language::English),
        _ => None,
    }
}

/// The inverse of [`parse`].
pub(in crate::http) const fn name(language: Language) -> &'static str {
    match language {
        Language::Portuguese => "pt",
        Language::English => "en",
    }
}

/// The language with the greatest weight among those that there are; Portuguese when there is none.
fn preferred(header: &str) -> Language {
    let mut best: Option<(u16, Language)> = None;
    for range in header.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let tag = parts.next().unwrap_or_default().to_ascii_lowercase();
        let Some(language) = parse(tag.split('-').next().unwrap_or_default()) else {
            continue;
        };
        let weight = parts.find_map(|part| part.strip_prefix("q="));
        let weight = weight.map_or(1000, thousandths);
        if weight > 0 && best.is_none_or(|(other, _)| weight > other) {
            best = Some((weight, language));
        }
    }
    best.map_or(Language::Portuguese, |(_, language)| language)
}

/// A weight from 0 to 1 in thousandths; 0 when it is none.
fn thousandths(text: &str) -> u16 {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{part:0<3}");
    match (whole, digits.get(..3).map(str::parse::<u16>)) {
        ("1", _) => 1000,
        ("0", Some(Ok(weight))) => weight,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{Language, preferred};

    #[test]
    fn the_browser_s_first_choice_is_taken_and_portuguese_without_one() {
        for (header, language) in [
            ("", Language::Portuguese),
            ("de, fr;q=0.5", Language::Portuguese),
            ("en-US,en;q=0.9", Language::English),
            ("pt-BR,pt;q=0.9,en;q=0.8", Language::Portuguese),
            ("pt;q=0.3, en;q=0.31", Language::English),
            ("de, EN-gb;q=0.4, pt;q=0", Language::English),
            ("*", Language::Portuguese),
            ("en;q=x, pt;q=0.1", Language::Portuguese),
        ] {
            assert_eq!(preferred(header), language, "{header}");
        }
    }
}
