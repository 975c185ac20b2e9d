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
    /// The path is empty, is not a file name, asks for memory, or carries options.
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
    /// A restore has begun and not ended.
    #[error(
        "a restore into {} is under way or was interrupted; run `preauth-server restore` again, or remove {}",
        path.display(), incomplete.display()
    )]
    HalfRestored {
        /// The database file, which does not exist yet.
        path: PathBuf,
        /// The file that the restore writes.
        incomplete: PathBuf,
    },
    /// A folder, lock file or database file could not be created or opened.
    #[error(
        "{} cannot be created or opened; check that its folder exists and may be written to",
        path.display()
    )]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        cause: std::io::Error,
    },
    /// The folder of a database file could not be made.
    #[error(
        "the folder {} cannot be made; make it for this process's user: \
         `install -d -m 700 -o USER {}`, or choose another one with --data or --database",
        path.display(), path.display()
    )]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        cause: std::io::Error,
    },
    /// What only reads found no database file.
    #[error(
        "there is no database at {}; name it with --config, --data or --database (`preauth-server serve` \
         makes a new one)",
        path.display()
    )]
    Absent {
        /// The database file.
        path: PathBuf,
    },
    /// Others could write the database, or put another in its place.
    #[error("{} is not used as a database", path.display())]
    Exposed {
        /// The file that they could write or replace.
        path: PathBuf,
        /// How, and the next step.
        #[source]
        cause: std::io::Error,
    },
    /// This process may not write to the file, or to its folder.
    #[error(
        "{} cannot be written by this process's user; let that user write to the file and to its folder, where \
         SQLite keeps its log",
        path.display()
    )]
    NotWritable {
        /// The database file.
        path: PathBuf,
        /// The error of the database.
        #[source]
        cause: Box<dyn StdError + Send + Sync>,
    },
    /// What the file contains is damaged.
    #[error(
        "{} is damaged; move it, and the files beside it whose names begin with its own, away and restore a backup: \
         `preauth-server restore`",
        path.display()
    )]
    Damaged {
        /// The database file.
        path: PathBuf,
        /// The error of the database.
        #[source]
        cause: Box<dyn StdError + Send + Sync>,
    },
    /// The file could not be opened as a database.
    #[error(
        "{} cannot be opened as a database; check that it is a sqlite file and that the disk has room",
        path.display()
    )]
    Database {
        /// The database file.
        path: PathBuf,
        /// The error of the database.
        #[source]
        cause: Box<dyn StdError + Send + Sync>,
    },
    /// A process was killed while it wrote; what it left unfinished is undone by a writer, not by a reader.
    #[error(
        "a process was killed while it wrote to {}; run `preauth-server migrate` or start the server once, \
         which undoes what was unfinished, and try again",
        path.display()
    )]
    Unfinished {
        /// The database file.
        path: PathBuf,
    },
    /// The migration of the schema failed.
    #[error("the schema of {} cannot be migrated; check that the disk has room", path.display())]
    Migration {
        /// The database file.
        path: PathBuf,
        /// The failed migration, and why.
        #[source]
        cause: Box<dyn StdError + Send + Sync>,
    },
    /// The URL begins like a PostgreSQL URL but is malformed. It is not repeated here: it may
    /// contain a password.
    #[error("the database url must have the form postgres://USER:PASSWORD@HOST:PORT/DATABASE")]
    PostgresUrl,
    /// A sandbox would change data that is not its own.
    #[error(
        "this database is not a sandbox's own: it is not empty, and it does not carry a sandbox's mark; \
         nothing in it was changed; choose another database or another --data folder"
    )]
    NotASandboxs,
    /// Writing the demo data was interrupted, in a database that is not a file.
    #[error("an earlier start of this sandbox was cut off; empty the database and start again")]
    HalfSeeded,
    /// Somebody on the network path could impersonate the database server.
    #[error(
        "the database at {host} is reached over a network without a verified certificate; add \
         ?sslmode=verify-full to the url (and sslrootcert=FILE for a CA of your own), or set \
         database_network_is_private = true if nobody else reaches that network"
    )]
    UnverifiedServer {
        /// The host in the URL.
        host: String,
    },
    /// A file for TLS cannot be read, or others can read a key or write any of them.
    #[error(
        "{parameter} of the database url cannot be used: {}; it must be a PEM file of this process's user or root",
        path.display()
    )]
    TlsFile {
        /// Which parameter of the URL names the file.
        parameter: &'static str,
        /// The file.
        path: PathBuf,
        /// The defect, and the command that repairs it.
        #[source]
        cause: std::io::Error,
    },
    /// The database server has no such database.
    #[error(
        "the server at {server} has no database {database}; make it there as its superuser: \
         `createdb --owner {user} {database}`, then run this command again (`preauth-server serve` needs \
         `preauth-server migrate` or a restore first)"
    )]
    NoDatabase {
        /// Host and port.
        server: String,
        /// The database of the URL.
        database: String,
        /// The user of the URL.
        user: String,
        /// The error of the database.
        #[source]
        cause: Box<dyn StdError + Send + Sync>,
    },
    /// The database server refused the connection.
    #[error(
        "the database at {database} does not answer or refuses the connection; check that it runs, \
         and the user, password and database of the url"
    )]
    Unreachable {
        /// Host, port and database.
        database: String,
        /// The error of the database.
        #[source]
        cause: Box<dyn StdError + Send + Sync>,
    },
    /// The database server refused the user, or the password.
    #[error(
        "the database server refuses the user {user} of {database}; check the user and the password of the url, \
         and that pg_hba.conf admits it; if there is no such user, its superuser makes it: \
         `createuser --pwprompt {user}`"
    )]
    UserRefused {
        /// Host, port and database.
        database: String,
        /// The user of the URL.
        user: String,
        /// The error of the database.
        #[source]
        cause: Box<dyn StdError + Send + Sync>,
    },
    /// The user lacks rights in the database.
    #[error(
        "the user {user} has no right to what it needs in the database at {database}; name the user that owns \
         the tables in the url, or let that one grant its rights: `GRANT OWNER TO {user}`"
    )]
    NotPermitted {
        /// Host, port and database.
        database: String,
        /// The user of the URL.
        user: String,
        /// The error of the database.
        #[source]
        cause: Box<dyn StdError + Send + Sync>,
    },
    /// The schema is missing, or this build does not support it.
    #[error("the database at {database} cannot be used: {mismatch}")]
    SchemaMismatch {
        /// Host, port and database, or the database file.
        database: String,
        /// The mismatch.
        mismatch: SchemaMismatch,
    },
    /// The migration of a database server's schema failed.
    #[error(
        "the schema of the database at {database} cannot be migrated; check that the user may \
         create tables, and run it again"
    )]
    PostgresMigration {
        /// Host, port and database.
        database: String,
        /// The failed migration, and why.
        #[source]
        cause: Box<dyn StdError + Send + Sync>,
    },
}
