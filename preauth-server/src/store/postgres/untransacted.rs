//! Splits a migration that runs without a transaction: statements sent together would be one.

/// One statement of a migration.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) sql: String,
    /// Whether readers and writers of its table are blocked while it waits for the table's lock.
    pub(super) blocks: bool,
}

/// Splits a migration at semicolons: such a migration contains no function and no text with one.
pub(super) fn statements(step: &str) -> Vec<Statement> {
    let code = step
        .lines()
        .filter(|line| !line.trim_start().starts_with("--"));
    let code = code.collect::<Vec<_>>().join("\n");
    let texts = code.split(';').map(str::trim).filter(|sql| !sql.is_empty());
    let statement = |sql: &str| Statement {
        blocks: !(sql.contains("CONCURRENTLY") || sql.contains("VALIDATE CONSTRAINT")),
        sql: sql.to_owned(),
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
}
