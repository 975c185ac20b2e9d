//! The README's table of errors on demand, compared with the code's own list.

use std::collections::BTreeMap;

use preauth_core::ErrorCode;
use preauth_server::http::integration::{MAGIC_PREFIX, Magic};

use crate::magic::status;

const README: &str = include_str!("../../../README.md");

/// By code: status, magic value, and the way without magic.
fn table() -> BTreeMap<String, [String; 3]> {
    let rows = README.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.map(|row| {
        row.split('|')
            .map(str::trim)
            .skip(1)
            .take(4)
            .collect::<Vec<_>>()
    });
    cells
        .filter(|cells| cells.len() == 4)
        .map(|cells| {
            (
                unquoted(cells[0]),
                [1, 2, 3].map(|index| unquoted(cells[index])),
            )
        })
        .filter(|(code, _)| {
            code.chars()
                .all(|each| each.is_ascii_uppercase() || each == '_')
        })
        .collect()
}

fn unquoted(cell: &str) -> String {
    let inner = cell
        .strip_prefix('`')
        .and_then(|rest| rest.strip_suffix('`'));
    inner.unwrap_or(cell).to_owned()
}

#[test]
fn the_readme_shows_how_to_provoke_every_code() {
    let table = table();
    assert_eq!(table.len(), ErrorCode::ALL.len());
    for code in ErrorCode::ALL {
        let name = code.as_str();
        let [listed_status, magic, otherwise] = &table[name];
        assert_eq!(*listed_status, status(*code).to_string(), "{name}");
        if Magic::codes().any(|each| each == *code) {
            assert_eq!(*magic, format!("{MAGIC_PREFIX}{name}"));
        } else {
            assert_eq!(magic, "", "{name}");
            assert!(otherwise.starts_with("platform API: "), "{name}");
        }
    }
}

#[test]
fn the_keys_that_the_readme_names_are_in_the_ready_file() {
    let named = README.split(|each: char| !each.is_ascii_alphanumeric());
    for key in named.filter(|word| word.ends_with("ApiKey")) {
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
