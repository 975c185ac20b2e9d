//! Why a database could not be opened.

use std::error::Error as StdError;
use std::path::PathBuf;

use thiserror::Error;

use super::SchemaMismatch;

/// Why a database could not be opened; each text names the next step.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The URL has neither of the two schemes.
    #[error(
        "the database url must begin with sqlite:// (for example sqlite://data/preauth.db) or \
         postgres:// (for example postgres://user@host/preauth)"
    )]
    UnknownScheme,
    /// The path is empty, names no file, asks for memory, or carries options.
    #[error("the database url must name a file, without options, after sqlite://")]
    NoFile,
    /// Another process has the database open.
    #[error(
        "another server has this database open (it holds {}); stop it, or choose another database",
        lock.display()
    )]
    Locked {
        /// The file that the other process holds.
        lock: PathBuf,
    },
    /// Folder, lock file or database file could not be made or opened.
    #[error(
        "{} cannot be created or opened; check that its folder exists and may be written to",
        path.display()
    )]
    File {
        /// What could not be made or opened.
        path: PathBuf,
        /// What the operating system says.
        #[source]
        cause: std::io::Error,
    },
    /// The database did not let itself be opened.
    #[error(
        "{} cannot be opened as a database; check that it is a sqlite file and that the disk has room",
        path.display()
    )]
    Database {
        /// The database file.
        path: PathBuf,
        /// What the database says.
        #[source]
        cause: Box<dyn StdError + Send + Sync>,
    },
    /// The schema could not be brought up to this build's.
    #[error("the schema of {} cannot be migrated; check that the disk has room", path.display())]
    Migration {
        /// The database file.
        path: PathBuf,
        /// Which step failed, and why.
        #[source]
        cause: Box<dyn StdError + Send + Sync>,
    },
    /// The URL begins like one of PostgreSQL and goes on like none. It is not repeated here: it may
    /// hold a password.
    #[error("the database url must have the form postgres://USER:PASSWORD@HOST:PORT/DATABASE")]
    PostgresUrl,
    /// A sandbox would change what is not its own.
    #[error(
        "this database is not a sandbox's own: it is not empty, and it does not carry a sandbox's mark; \
         nothing in it was changed; choose another database or another --data folder"
    )]
    NotASandboxs,
    /// The demo data were cut off, in a database that is not a file.
    #[error("an earlier start of this sandbox was cut off; empty the database and start again")]
    HalfSeeded,
    /// Anybody on the way could pose as the database server.
    #[error(
        "the database at {host} is reached over a network without a verified certificate; add \
         ?sslmode=verify-full to the url (and sslrootcert=FILE for a CA of your own), or set \
         database_network_is_private = true if nobody else reaches that network"
    )]
    UnverifiedServer {
        /// Where it is said to be.
        host: String,
    },
    /// The database server did not let anybody in.
    #[error(
        "the database at {database} does not answer or refuses the connection; check that it runs, \
         and the user, password and database of the url"
    )]
    Unreachable {
        /// Host, port and database.
        database: String,
        /// What the database says.
        #[source]
        cause: Box<dyn StdError + Send + Sync>,
    },
    /// The schema was never made, or this build cannot work on it.
    #[error("the database at {database} cannot be used: {mismatch}")]
    SchemaMismatch {
        /// Host, port and database, or the database file.
        database: String,
        /// What is wrong with its schema.
        mismatch: SchemaMismatch,
    },
    /// The schema of a database server could not be brought up to this build's.
    #[error(
        "the schema of the database at {database} cannot be migrated; check that the user may \
         create tables, and run it again"
    )]
    PostgresMigration {
        /// Host, port and database.
        database: String,
        /// Which step failed, and why.
        #[source]
        cause: Box<dyn StdError + Send + Sync>,
    },
}
