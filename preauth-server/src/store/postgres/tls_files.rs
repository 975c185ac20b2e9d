//! The files that a database's URL names for TLS. A user who can write one of them can impersonate
//! the database, and a user who can read the key can impersonate this server.

use std::path::PathBuf;

use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;

use crate::files;
use crate::store::OpenError;

/// The driver's notation for a file, unlike a certificate in the URL itself.
const FILE: &str = "file: ";

/// Refuses a key that others can read, and any of the files that others can write.
///
/// The files are those that the driver has read from the URL and its environment variables; nothing
/// else parses them.
pub(super) fn check(options: &PgConnectOptions) -> Result<(), OpenError> {
    for (parameter, value) in options.to_url_lossy().query_pairs() {
        let Some(path) = value.strip_prefix(FILE).map(PathBuf::from) else {
            continue;
        };
        let (parameter, checked) = match &*parameter {
            "sslkey" => ("sslkey", files::read_secret(&path).map(drop)),
            "sslcert" => ("sslcert", files::read_authentic(&path).map(drop)),
            "sslrootcert" => ("sslrootcert", files::read_authentic(&path).map(drop)),
            _ => continue,
        };
        checked.map_err(|cause| OpenError::TlsFile {
            parameter,
            path,
            cause,
        })?;
    }
    Ok(())
}
