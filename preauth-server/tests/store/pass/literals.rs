//! Whether each text of SQL in the source of the store was part of a statement that was executed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Words by which a text is known as SQL that has a plan, or as a part of it.
const WORDS: [&str; 10] = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "FROM", "WHERE", "AND", "ORDER", "JOIN", "LIMIT",
];
/// Where the SQL of the store stands, and the parts of it that one database has for itself.
const STORE: &str = "src/store";
const DATABASES: [&str; 2] = ["sqlite", "postgres"];

/// A text, and where it stands.
struct Literal {
    place: String,
    text: String,
}

/// The texts that were in no statement and are not named with a reason, and the names that nothing needs.
pub(crate) fn missing(
    database: &str,
    executed: &BTreeSet<String>,
    named: &[(&str, &str)],
) -> Vec<String> {
    let store = Path::new(env!("CARGO_MANIFEST_DIR")).join(STORE);
    let mut literals = Vec::new();
    read(&store, &store, database, &mut literals);
    unreached(&literals, executed, named)
}

fn unreached(
    literals: &[Literal],
    executed: &BTreeSet<String>,
    named: &[(&str, &str)],
) -> Vec<String> {
    let executed: Vec<_> = executed.iter().map(|it| collapsed(it)).collect();
    let executed = executed.join("\n");
    let is_reached = |it: &&Literal| parts(&it.text).all(|part| executed.contains(&part));
    let lines = literals.iter().filter(|it| !is_reached(it));
    let lines: Vec<_> = lines
        .map(|it| format!("{}: {}", it.place, collapsed(&it.text)))
        .collect();
    let is_named = |line: &&String| named.iter().any(|(name, _)| line.contains(name));
    let is_needed = |name: &str| lines.iter().any(|line| line.contains(name));
    let unneeded = named.iter().filter(|(name, _)| !is_needed(name));
    let unneeded = unneeded.map(|(name, _)| format!("nothing needs the name {name}"));
    let unnamed = lines.iter().filter(|line| !is_named(line)).cloned();
    unnamed.chain(unneeded).collect()
}

/// Adds the texts of a folder that this database uses.
fn read(store: &Path, folder: &Path, database: &str, literals: &mut Vec<Literal>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let place = path.strip_prefix(store).unwrap().display().to_string();
        let others = DATABASES.iter().filter(|it| **it != database);
        if others.into_iter().any(|it| place.starts_with(it)) || place.ends_with("tests.rs") {
            continue;
        }
        if path.is_dir() {
            read(store, &path, database, literals);
        } else {
            let source = fs::read_to_string(&path).unwrap();
            let found = of_source(&source, database).into_iter();
            literals.extend(found.map(|text| Literal {
                place: place.clone(),
                text,
            }));
        }
    }
}

/// The texts of SQL before a file's tests. One after the name of a database is for that one alone.
fn of_source(source: &str, database: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = source
        .lines()
        .filter(|it| !it.trim_start().starts_with("//"));
    let source = lines.collect::<Vec<_>>().join("\n").replace("'\"'", "");
    let mut rest = source.as_str();
    let mut found = Vec::new();
    while let Some((before, after)) = rest.split_once('"') {
        let end = if before.ends_with("r#") { "\"#" } else { "\"" };
        let (text, after) = string(after, end);
        let before = before.rsplit(';').next().unwrap_or_default().to_lowercase();
        let name = DATABASES.iter().max_by_key(|it| before.rfind(**it));
        let is_for_one = name.filter(|it| before.contains(**it));
        if is_for_one.is_none_or(|it| *it == database) && is_sql(&text) {
            found.push(text);
        }
        rest = after;
    }
    found
}

/// A string up to its end, and what follows.
fn string<'s>(source: &'s str, end: &str) -> (String, &'s str) {
    let mut text = String::new();
    let mut rest = source;
    while !rest.starts_with(end) {
        let mut characters = rest.chars();
        match characters.next() {
            Some('\\') if end == "\"" => match characters.next() {
                Some('\n') => characters = characters.as_str().trim_start().chars(),
                Some('n') => text.push(' '),
                other => text.extend(other),
            },
            Some(other) => text.push(other),
            None => return (text, ""),
        }
        rest = characters.as_str();
    }
    (text, rest.get(end.len()..).unwrap_or_default())
}

fn is_sql(text: &str) -> bool {
    let mut words = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    words.any(|word| WORDS.contains(&word))
}

/// What stands between the placeholders of a text.
fn parts(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split('{').enumerate().map(|(n, part)| {
        let after = part.split_once('}').map(|(_, after)| after);
        if n == 0 { part } else { after.unwrap_or(part) }
    });
    parts.map(collapsed)
}

fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_text_that_was_not_executed_is_found_and_so_is_a_name_that_nothing_needs() {
    let source = r#"
        // "SELECT 1 FROM comments"
        query("SELECT a
               FROM \"b\" WHERE c = $1");
        sql!("DELETE FROM d " { sqlite: "WHERE e", postgres: "WHERE f" });
        format!("SELECT {columns} FROM g"); error("no such record"); '"'; push(" AND h");
    "#;
    let texts = of_source(source, "postgres");
    let literal = |text| Literal {
        place: "here".to_owned(),
        text,
    };
    let literals: Vec<_> = texts.into_iter().map(literal).collect();
    let all = [
        "SELECT a FROM \"b\" WHERE c = $1 AND h",
        "DELETE FROM d  WHERE f",
        "SELECT x FROM g",
    ];
    let executed = |skipped| {
        let all = all.iter().enumerate().filter(|(n, _)| *n != skipped);
        all.map(|(_, text)| (*text).to_owned())
            .collect::<BTreeSet<_>>()
    };
    let found = |skipped, named: &[_]| unreached(&literals, &executed(skipped), named);
    assert_eq!(found(3, &[]), [""; 0]);
    assert_eq!(found(2, &[]), ["here: SELECT {columns} FROM g"]);
    assert_eq!(found(2, &[("FROM g", "")]), [""; 0]);
    assert_eq!(found(1, &[("here", "")]), [""; 0]);
    assert_eq!(found(3, &[("here", "")]), ["nothing needs the name here"]);
}
