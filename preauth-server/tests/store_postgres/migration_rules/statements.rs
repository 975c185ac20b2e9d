//! SQL as the rules read it: statements without comments, string literals and function bodies.

/// The statements in capitals, with one space between words.
pub(super) fn statements(sql: &str) -> Vec<String> {
    let mut code = String::new();
    for line in sql.lines() {
        let line = line.split_once("--").map_or(line, |(code, _)| code);
        code.push_str(line);
        code.push(' ');
    }
    let code = without(&without(&code, "$$", "FUNCTION_BODY"), "'", "TEXT").to_uppercase();
    // Separates a name from what follows it directly.
    let code = code
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace(',', " , ");
    let words = |statement: &str| statement.split_whitespace().collect::<Vec<_>>().join(" ");
    let statements = code.split(';').map(words);
    statements
        .filter(|statement| !statement.is_empty())
        .collect()
}

/// The text with a word in place of everything between each pair of marks.
fn without(text: &str, mark: &str, word: &str) -> String {
    let parts = text.split(mark).enumerate();
    parts
        .map(|(n, part)| if n % 2 == 0 { part } else { word })
        .collect()
}

/// The word after these words, if the statement has them.
pub(super) fn word_after<'a>(statement: &'a str, words: &str) -> Option<&'a str> {
    let padded = format!(" {words} ");
    let at = if let Some(rest) = statement.strip_prefix(&padded[1..]) {
        rest
    } else {
        statement.split_once(&padded)?.1
    };
    at.split(' ').next()
}
