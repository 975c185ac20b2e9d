//! Pages of `docs/` with parts that are generated from the code: settings, commands, error codes, routes.
//!
//! Such a page is written by hand, except for the part between two marks. These tests compare that part with the
//! code; `UPDATE_PAGES=1 cargo test --workspace --all-features --lib doc_pages` writes it.

mod commands;
mod errors;
mod routes;
mod settings;
mod shown_commands;

use std::fmt::Write as _;
use std::path::Path;

const END: &str = "<!-- end of generated -->";

/// Compares the generated part of a page with `text`, or writes it if that was asked for.
fn check(page: &str, mark: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(page);
    let found = std::fs::read_to_string(&path).unwrap();
    let begin = format!("<!-- generated: {mark} -->");
    let (before, rest) = found
        .split_once(&begin)
        .unwrap_or_else(|| panic!("{page} lacks {begin}"));
    let (_, after) = rest
        .split_once(END)
        .unwrap_or_else(|| panic!("{page} lacks {END}"));
    let expected = format!("{before}{begin}\n\n{}\n\n{END}{after}", text.trim());
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::write(&path, expected).unwrap();
        return;
    }
    assert!(
        found == expected,
        "docs/{page} differs from the code: UPDATE_PAGES=1 cargo test --workspace --all-features --lib doc_pages"
    );
}

/// A table with this head.
fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), " --- |".repeat(N));
    for row in rows {
        let cells = row.map(|each| cell(&each));
        writeln!(text, "| {} |", cells.join(" | ")).unwrap();
    }
    text
}

/// A table cell on one line; HTML tags are escaped outside of code.
fn cell(text: &str) -> String {
    let text = text.replace('|', "\\|").replace('\n', " ");
    if text.starts_with('`') {
        text
    } else {
        text.replace('<', "\\<")
    }
}

/// The text as code; empty stays empty.
fn code(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("`{text}`")
    }
}
