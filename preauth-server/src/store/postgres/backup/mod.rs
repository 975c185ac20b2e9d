//! Copies a database table by table while servers work on it, and into an empty one.
//!
//! The copy needs no other program, and its format is that of `COPY` in text, which every version of
//! PostgreSQL reads.

mod catalog;
mod export;
mod import;
mod rebuild;

pub(in crate::store) use export::export;
pub use import::PostgresImport;

/// Tables whose content a restored database does not take over: which migrations it has is its own
/// matter, and so are its lineages; see `sequences`.
const OWN_TABLES: [&str; 2] = ["_sqlx_migrations", "id_lineages"];

/// A table is copied without the place that the database recorded, so that no restore is taken for the
/// original; see `identity`.
const PLACE: (&str, &str) = ("deployment", "place");

/// The session of a copy: others see what it waits for, and nothing in it depends on the server's
/// configuration.
const SESSION: [(&str, &str); 6] = [
    ("statement_timeout", "0"),
    ("lock_timeout", "30s"),
    // A process that freezes must not hold its snapshot for ever.
    ("idle_in_transaction_session_timeout", "10min"),
    ("bytea_output", "hex"),
    ("client_encoding", "UTF8"),
    ("jit", "off"),
];

/// The name as a part of a statement.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn listed(columns: &[String]) -> String {
    let columns: Vec<_> = columns.iter().map(|name| quoted(name)).collect();
    columns.join(", ")
}

/// The statement that reads the columns of a table, row by row.
fn reading(table: &str, columns: &[String]) -> String {
    let values = columns.iter().map(|column| {
        if (table, column.as_str()) == PLACE {
            "''".to_owned()
        } else {
            quoted(column)
        }
    });
    let values: Vec<_> = values.collect();
    let (values, table) = (values.join(", "), quoted(table));
    format!("COPY (SELECT {values} FROM {table}) TO STDOUT")
}
