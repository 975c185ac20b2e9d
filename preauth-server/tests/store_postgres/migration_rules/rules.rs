//! Statements that a migration must not have while instances of the previous version run.

use std::collections::BTreeSet;

use super::statements::{statements, word_after};

/// Tables so small that a statement over all of their rows takes no time.
const SMALL: [&str; 2] = ["SCHEMA_COMPATIBILITY", "SEQUENCES"];

/// Tables whose rows writers only reference by a key that no migration changes: updating all of
/// them blocks no writer.
const REFERRED_TO: [&str; 1] = ["COMPANIES"];

/// Tables whose rows have keys that nobody else uses: no other insert waits for the end of a statement.
const OWN_KEYS: [&str; 1] = ["INVOICE_FILE_BYTES"];

const BEFORE_A_TABLE: [&str; 5] = [
    "ALTER TABLE ONLY",
    "ALTER TABLE",
    "UPDATE",
    "DELETE FROM",
    "ON",
];
const INDEX: [&str; 4] = [
    "CREATE INDEX",
    "CREATE UNIQUE INDEX",
    "DROP INDEX",
    "REINDEX",
];
const CONSTRAINT: [&str; 5] = [
    "ADD CONSTRAINT",
    "ADD CHECK",
    "ADD FOREIGN KEY",
    "ADD UNIQUE",
    "ADD PRIMARY KEY",
];
/// Expressions that compute a value for each row of a new column, or read each row.
const FILLING: [&str; 7] = [
    "GENERATED",
    "SERIAL",
    "BIGSERIAL",
    "UNIQUE",
    "PRIMARY KEY",
    "REFERENCES",
    "CHECK",
];
/// Tables that one transaction may alter: while it waits for the lock of a further one, nobody uses those
/// before it.
const MAX_ALTERED: usize = 1;
/// Clauses that make a repeated statement do nothing.
const GUARDS: [&str; 4] = ["IF NOT EXISTS", "IF EXISTS", "OR REPLACE", "ON CONFLICT"];

/// A migration, as the rules read it.
struct Step {
    statements: Vec<String>,
    /// Tables that the migration creates: no instance uses them yet.
    made: Vec<String>,
    in_transaction: bool,
    /// Whether it, or the step before it, declares older builds unsupported.
    may_take_away: bool,
}

/// Whether a migration declares older builds unsupported.
pub(super) fn contracts(sql: &str) -> bool {
    let declares = |it: &String| it.starts_with("UPDATE SCHEMA_COMPATIBILITY SET");
    statements(sql).iter().any(declares)
}

/// The violations of a migration, by statement. `is_after_contraction`: the step before it declares
/// older builds unsupported.
pub(super) fn violations(sql: &str, is_postgres: bool, is_after_contraction: bool) -> Vec<String> {
    let contracts = contracts(sql);
    let statements = statements(sql);
    let made = |statement: &String| {
        let name = word_after(statement, "CREATE TABLE IF NOT EXISTS")
            .or_else(|| word_after(statement, "CREATE TABLE"))
            .or_else(|| word_after(statement, "CREATE UNLOGGED TABLE"))
            .or_else(|| word_after(statement, "CREATE TEMPORARY TABLE IF NOT EXISTS"));
        name.map(ToOwned::to_owned)
    };
    let step = Step {
        made: statements.iter().filter_map(made).collect(),
        in_transaction: !sql.starts_with("-- no-transaction"),
        may_take_away: contracts || is_after_contraction,
        statements,
    };
    let mut found = Vec::new();
    if contracts && !step.in_transaction {
        found.push("a step that contracts needs a transaction".to_owned());
    }
    if is_postgres && step.in_transaction && step.altered().len() > MAX_ALTERED {
        found.push("the locks of several tables in one transaction".to_owned());
    }
    for statement in &step.statements {
        let mut report = |rule: &str| found.push(format!("{rule}: {statement}"));
        if !step.may_take_away {
            takes_away(statement, &step, &mut report);
        }
        if is_postgres {
            locks(statement, &step, &mut report);
            cannot_be_repeated(statement, &step, &mut report);
        }
    }
    found
}

/// Older builds need what is dropped, renamed or made mandatory.
fn takes_away(statement: &str, step: &Step, report: &mut impl FnMut(&str)) {
    if let Some(name) = dropped(statement)
        && !step.makes(name)
    {
        report("DROP in a step that does not contract");
    }
    if let Some(target) = word_after(statement, "RENAME TO") {
        // A table recreated under its old name still exists.
        let from = word_after(statement, "ALTER TABLE").unwrap_or_default();
        if !(step.made.iter().any(|made| made == from) && step.drops(target)) {
            report("RENAME in a step that does not contract");
        }
    } else if has(statement, "RENAME") {
        report("RENAME in a step that does not contract");
    }
    if has(statement, "SET NOT NULL") || (has(statement, "ALTER COLUMN") && has(statement, "TYPE"))
    {
        report("a column is narrowed in a step that does not contract");
    }
    if has(statement, "ADD COLUMN") && has(statement, "NOT NULL") && !has(statement, "DEFAULT") {
        report("ADD COLUMN … NOT NULL without a default");
    }
}

/// Writers would wait longer than a second on a table of ten million rows.
fn locks(statement: &str, step: &Step, report: &mut impl FnMut(&str)) {
    let table = BEFORE_A_TABLE
        .iter()
        .find_map(|words| word_after(statement, words));
    let table = table.unwrap_or_default();
    if step.made.iter().any(|made| made == table) {
        return;
    }
    let concurrently = has(statement, "CONCURRENTLY");
    if has_any(statement, &INDEX) && !concurrently {
        report("an index without CONCURRENTLY");
    }
    if concurrently && step.in_transaction {
        report("CONCURRENTLY in a transaction");
    }
    fills_a_column(statement, report);
    if has_any(statement, &CONSTRAINT) && !has_any(statement, &["NOT VALID", "USING INDEX"]) {
        report("a constraint without NOT VALID");
    }
    if has(statement, "VALIDATE CONSTRAINT") && step.in_transaction {
        report("VALIDATE CONSTRAINT in a transaction");
    }
    if has(statement, "SET NOT NULL") || (has(statement, "ALTER COLUMN") && has(statement, "TYPE"))
    {
        report("a change of a column that reads every row");
    }
    inserts_many(statement, step, report);
    let is_mass = ["UPDATE", "DELETE FROM"]
        .iter()
        .any(|verb| statement.starts_with(verb));
    let is_brief =
        SMALL.contains(&table) || (REFERRED_TO.contains(&table) && statement.starts_with("UPDATE"));
    if is_mass && !is_brief && !has(statement, "LIMIT") {
        report("a write to every row of a table");
    }
    if ["LOCK", "TRUNCATE", "CLUSTER", "VACUUM", "DO"]
        .iter()
        .any(|verb| word_is_first(statement, verb))
    {
        report("a statement that the rules cannot follow, or that keeps everybody off");
    }
}

/// A writer that inserts a row waits for the end of a statement that has inserted it, too.
fn inserts_many(statement: &str, step: &Step, report: &mut impl FnMut(&str)) {
    let Some(table) = word_after(statement, "INSERT INTO") else {
        return;
    };
    let is_awaited = !step.makes(table) && !SMALL.contains(&table) && !OWN_KEYS.contains(&table);
    if is_awaited && has(statement, "SELECT") && !has(statement, "LIMIT") {
        report("an insert of many rows at once");
    }
}

/// Only a constant fills a new column without reading each row.
fn fills_a_column(statement: &str, report: &mut impl FnMut(&str)) {
    if !has(statement, "ADD COLUMN") {
        return;
    }
    let default = statement.split_once(" DEFAULT ").map_or("", |(_, it)| it);
    let default = default.split(" , ADD ").next().unwrap_or_default();
    if default.contains('(') {
        report("ADD COLUMN with a default that is computed for each row");
    }
    if has_any(statement, &FILLING) {
        report("ADD COLUMN that reads or writes every row");
    }
}

/// A migration without a transaction starts again after an interruption.
fn cannot_be_repeated(statement: &str, step: &Step, report: &mut impl FnMut(&str)) {
    if step.in_transaction {
        return;
    }
    let index = [
        "CREATE INDEX CONCURRENTLY",
        "CREATE UNIQUE INDEX CONCURRENTLY",
    ]
    .iter()
    .find_map(|words| word_after(statement, words));
    if let Some(index) = index
        && !step.drops(index)
    {
        report("an index that an interruption leaves invalid is not dropped first");
    }
    if let Some(constraint) = word_after(statement, "ADD CONSTRAINT")
        && !step.drops(constraint)
    {
        report("a constraint is not dropped before it is added again");
    }
    let is_guarded = has_any(statement, &GUARDS);
    let is_made = ["CREATE", "DROP", "INSERT"]
        .iter()
        .any(|verb| word_is_first(statement, verb))
        || has(statement, "ADD COLUMN");
    if is_made && index.is_none() && !is_guarded {
        report("a statement that cannot be carried out twice");
    }
    if has(statement, "FUNCTION_BODY") {
        report("a function in a step without a transaction");
    }
}

impl Step {
    /// The tables in use that it alters.
    fn altered(&self) -> BTreeSet<&str> {
        let table = |statement| {
            word_after(statement, "ALTER TABLE ONLY")
                .or_else(|| word_after(statement, "ALTER TABLE"))
        };
        let tables = self.statements.iter().filter_map(|it| table(it));
        tables
            .filter(|table| !self.made.iter().any(|made| made == table))
            .collect()
    }

    /// Whether the migration creates something of this name, or recreates it.
    fn makes(&self, name: &str) -> bool {
        let makes = |statement: &String| {
            let is_made =
                word_is_first(statement, "CREATE") && statement.split(' ').any(|word| word == name);
            let is_added = word_after(statement, "ADD CONSTRAINT") == Some(name);
            is_made && dropped(statement).is_none()
                || is_added
                || word_after(statement, "RENAME TO") == Some(name)
        };
        self.statements.iter().any(makes)
    }

    fn drops(&self, name: &str) -> bool {
        self.statements.iter().any(|it| dropped(it) == Some(name))
    }
}

/// The name of the object that a statement drops.
fn dropped(statement: &str) -> Option<&str> {
    let mut words = statement
        .split(' ')
        .skip_while(|word| *word != "DROP")
        .skip(1);
    // The kind of object, and how it is dropped; dropping DEFAULT or NOT NULL of a column only
    // widens it.
    let rest = words.by_ref();
    let kind = rest.next()?;
    if ["DEFAULT", "NOT"].contains(&kind) {
        return None;
    }
    rest.find(|word| !["CONCURRENTLY", "IF", "EXISTS"].contains(word))
}

fn has(statement: &str, words: &str) -> bool {
    format!(" {statement} ").contains(&format!(" {words} "))
}

fn has_any(statement: &str, words: &[&str]) -> bool {
    words.iter().any(|words| has(statement, words))
}

fn word_is_first(statement: &str, word: &str) -> bool {
    statement.split(' ').next() == Some(word)
}
