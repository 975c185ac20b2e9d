//! Splits a migration that runs without a transaction: statements sent together would be one.

/// The line before a statement that changes many rows a few at a time.
const REPEAT: &str = "-- repeat";

/// One statement of a migration.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) sql: String,
    /// Whether it is executed repeatedly, each time in a transaction of its own, until it affects no
    /// row.
    pub(super) repeats: bool,
    /// Whether readers and writers of its table are blocked while it waits for the table's lock.
    pub(super) blocks: bool,
}

/// Splits a migration at semicolons: such a migration contains no function and no text with one.
pub(super) fn statements(step: &str) -> Vec<Statement> {
    let is_code = |line: &&str| line.trim() == REPEAT || !line.trim_start().starts_with("--");
    let code: Vec<&str> = step.lines().filter(is_code).collect();
    let code = code.join("\n");
    let texts = code.split(';').map(str::trim).filter(|sql| !sql.is_empty());
    let statement = |text: &str| {
        let repeated = text.strip_prefix(REPEAT);
        let sql = repeated.map_or(text, str::trim_start);
        Statement {
            blocks: !(sql.contains("CONCURRENTLY") || sql.contains("VALIDATE CONSTRAINT")),
            repeats: repeated.is_some(),
            sql: sql.to_owned(),
        }
    };
    texts.map(statement).collect()
}

#[cfg(test)]
mod tests {
    use super::{Statement, statements};

    #[test]
    fn a_step_is_split_into_statements_without_its_comments() {
        let step = "-- no-transaction\n-- One; two.\nDROP INDEX CONCURRENTLY IF EXISTS a;\n\n\
                    ALTER TABLE t\n    ADD COLUMN b TEXT;\nALTER TABLE t VALIDATE CONSTRAINT c;\n";
        let statement = |sql: &str, blocks| Statement {
            sql: sql.to_owned(),
            repeats: false,
            blocks,
        };
        assert_eq!(
            statements(step),
            [
                statement("DROP INDEX CONCURRENTLY IF EXISTS a", false),
                statement("ALTER TABLE t\n    ADD COLUMN b TEXT", true),
                statement("ALTER TABLE t VALIDATE CONSTRAINT c", false),
            ]
        );
    }

    #[test]
    fn a_statement_below_the_mark_is_repeated() {
        let step = "-- no-transaction\n-- Why.\n-- repeat\nDELETE FROM t\n    -- So many.\n\
                    LIMIT 5;\nSELECT 1;\n";
        let found: Vec<_> = statements(step)
            .into_iter()
            .map(|statement| (statement.sql, statement.repeats))
            .collect();
        let expected = [("DELETE FROM t\nLIMIT 5", true), ("SELECT 1", false)];
        assert_eq!(
            found,
            expected.map(|(sql, repeats)| (sql.to_owned(), repeats))
        );
    }
}
