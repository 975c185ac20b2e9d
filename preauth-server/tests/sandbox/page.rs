//! The lists on the page of the sandbox match the code.

use std::collections::BTreeSet;

use preauth_core::ErrorCode;
use preauth_server::http::integration::Magic;

const PAGE: &str = include_str!("../../../docs/sandbox.md");

/// Code and the way without magic, of every row about a code.
fn table() -> Vec<(&'static str, &'static str)> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split_once("` | "))
        .map(|(code, way)| (code, way.trim_end_matches('|').trim()))
        .collect()
}

#[test]
fn the_page_lists_every_code_once_and_how_to_provoke_those_without_magic() {
    let table = table();
    let listed: BTreeSet<_> = table.iter().map(|(code, _)| *code).collect();
    assert_eq!(listed.len(), table.len(), "a code is listed twice");
    assert_eq!(
        listed,
        ErrorCode::ALL.iter().map(|code| code.as_str()).collect()
    );
    let magic: BTreeSet<_> = Magic::codes().map(ErrorCode::as_str).collect();
    for (code, way) in table {
        let is_of_the_platform = way.starts_with("platform API: ");
        assert_eq!(is_of_the_platform, !magic.contains(code), "{code}: {way}");
    }
}

#[test]
fn the_keys_that_the_page_names_are_in_the_ready_file() {
    let named = PAGE.split(|each: char| !each.is_ascii_alphanumeric());
    let keys: BTreeSet<_> = named.filter(|word| word.ends_with("ApiKey")).collect();
    assert!(keys.len() > 5, "{keys:?}");
    for key in keys {
        let field = include_str!("../../src/sandbox/credentials.rs");
        let snake: String = key
            .chars()
            .map(|each| match each {
                'A'..='Z' => format!("_{}", each.to_ascii_lowercase()),
                other => other.to_string(),
            })
            .collect();
        assert!(field.contains(&format!("pub {snake}: String")), "{key}");
    }
}
