//! Pages of `docs/` with parts that are generated from the code: settings, commands, error codes, routes.
//!
//! Such a page is written by hand, except for the part between two marks. These tests compare that part with the
//! code; `UPDATE_PAGES=1 cargo test --workspace --all-features --lib doc_pages` writes it. On a page in Portuguese
//! the words in that part are written by hand, too: a test names the row that has none.

mod commands;
mod errors;
mod routes;
mod settings;
mod shown_commands;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const END: &str = "<!-- end of generated -->";

fn path(page: &str) -> PathBuf {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    docs.join(page)
}

/// Compares the generated part of a page with `text`, or writes it if that was asked for.
fn check(page: &str, mark: &str, text: &str) {
    let path = path(page);
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

/// A page in Portuguese, for the words in its generated part.
struct Translation {
    page: &'static str,
    text: String,
}

impl Translation {
    fn of(page: &'static str) -> Self {
        let text = std::fs::read_to_string(path(page)).unwrap();
        Self { page, text }
    }

    /// What a row says in this column; its first cell names it.
    fn cell(&self, row: &str, column: usize) -> String {
        let lines = self.text.lines().filter_map(|it| it.strip_prefix('|'));
        let mut rows = lines.map(|it| it.split('|').map(str::trim));
        let found = rows.find(|it| it.clone().next() == Some(row));
        let said = found.and_then(|mut it| it.nth(column));
        let said = said.filter(|it| !it.is_empty());
        let said = said.unwrap_or_else(|| panic!("docs/{} has no words for {row}", self.page));
        said.replace("\\<", "<")
    }

    /// What stands between an anchor and the table below it.
    fn heading(&self, anchor: &str) -> &str {
        let after = self.text.split_once(anchor);
        let found = after.and_then(|(_, rest)| rest.split_once("\n\n|"));
        let (heading, _) = found.unwrap_or_else(|| panic!("docs/{} has no {anchor}", self.page));
        heading.trim()
    }
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
