//! The database: whether it answers, its schema, its settings, and who has it open.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use crate::announcement::Announcement;
use crate::config::Config;
use crate::hold::{Ownership, ownership};
use crate::log::chain;
use crate::store::{Checkup, Contents, INSTANCE_CONNECTIONS, ServerCheckup, check_up};

use super::report::Report;

const DATABASE: &str = "database";
const SCHEMA: &str = "schema";
const DEPLOYMENT: &str = "deployment";
const DURABILITY: &str = "durability";
const CONNECTIONS: &str = "connections";
const LOCK: &str = "lock file";
const LOG: &str = "write-ahead log";
/// The oldest major version of PostgreSQL that was tried.
const OLDEST_POSTGRES: u32 = 14;
/// The size from which another program must be holding the log back.
const LARGE_LOG_BYTES: u64 = 1 << 30;

pub(super) async fn examine(config: &Config, report: &mut Report) -> Option<Checkup> {
    let url = &config.database_url;
    let checkup = match check_up(url).await {
        Ok(checkup) => checkup,
        Err(error) => {
            report.failed(DATABASE, &chain(&error), None);
            return None;
        }
    };
    match (&checkup.server, url.file()) {
        (Some(server), _) => postgres(&checkup, server, report),
        (None, file) => sqlite(&checkup, file.unwrap_or(Path::new("")), config, report),
    }
    schema(&checkup, report);
    if let Some(contents) = &checkup.contents {
        deployment(contents, config, report);
    }
    Some(checkup)
}

fn deployment(contents: &Contents, config: &Config, report: &mut Report) {
    let given = config.deployment.as_ref();
    match ownership(given, contents.deployment.as_ref()) {
        Ownership::Foreign(reason) => report.failed(DEPLOYMENT, &reason, None),
        Ownership::Ours | Ownership::Nobodys if given.is_none() => report.warning(
            DEPLOYMENT,
            "no deployment_id is set: a server would send from a copy that was made block by block (a physical \
             backup, a volume's snapshot)",
            "set deployment_id, and run `preauth-server adopt` once if this database was in service without it",
        ),
        Ownership::Ours => report.ok(DEPLOYMENT, "the database belongs to this deployment"),
        Ownership::Nobodys => report.ok(DEPLOYMENT, "the first start takes the database for it"),
    }
}

fn schema(checkup: &Checkup, report: &mut Report) {
    let is_postgres = checkup.server.is_some();
    match &checkup.schema {
        None => report.ok(SCHEMA, "the first start makes it"),
        Some(Err(mismatch)) => report.failed(SCHEMA, &mismatch.to_string(), None),
        Some(Ok(pending)) => match (pending.steps.len(), pending.newest) {
            (0, newest) => {
                let newest = newest.unwrap_or_default();
                report.ok(SCHEMA, &format!("up to date at step {newest}"));
            }
            (missing, _) if is_postgres => report.failed(
                SCHEMA,
                &format!("{missing} steps are missing"),
                Some("make a backup and run `preauth-server migrate`"),
            ),
            (missing, _) => report.warning(
                SCHEMA,
                &format!("{missing} steps are missing, which the next start makes"),
                "make a backup before it",
            ),
        },
    }
}

fn postgres(checkup: &Checkup, server: &ServerCheckup, report: &mut Report) {
    let encrypted = if server.is_encrypted {
        "encrypted"
    } else {
        "not encrypted"
    };
    let found = format!(
        "{} answers; the connection is {encrypted}",
        checkup.software
    );
    if !server.takes_writes {
        let next = "name the primary in `database`, or promote this standby";
        report.failed(
            DATABASE,
            &format!("{found}; it takes no writes"),
            Some(next),
        );
    } else if is_older_than_tried(&checkup.software) {
        report.warning(
            DATABASE,
            &format!("{found}; no version before {OLDEST_POSTGRES} was tried"),
            "upgrade PostgreSQL",
        );
    } else {
        report.ok(DATABASE, &found);
    }
    if server.weak_settings.is_empty() {
        report.ok(DURABILITY, "PostgreSQL keeps what it has confirmed");
    } else {
        let weak = server.weak_settings.join(", ");
        report.failed(
            DURABILITY,
            &format!("PostgreSQL may lose what it has confirmed: {weak}"),
            Some("set fsync, full_page_writes and synchronous_commit to on"),
        );
    }
    let ServerCheckup {
        free_connections: free,
        own_connections: own,
        ..
    } = *server;
    let found = format!("{free} connections are free, {own} are this service's");
    if free < INSTANCE_CONNECTIONS && own == 0 {
        report.warning(
            CONNECTIONS,
            &format!("{found}; an instance uses up to {INSTANCE_CONNECTIONS}"),
            "raise max_connections of PostgreSQL",
        );
    } else {
        report.ok(CONNECTIONS, &found);
    }
}

/// By the first number, as in `PostgreSQL 15.13 (Debian 15.13-0+deb12u1)`.
fn is_older_than_tried(software: &str) -> bool {
    let mut numbers = software.split(|letter: char| !letter.is_ascii_digit());
    let major = numbers.find_map(|number| number.parse::<u32>().ok());
    major.is_some_and(|major| major < OLDEST_POSTGRES)
}

fn sqlite(checkup: &Checkup, file: &Path, config: &Config, report: &mut Report) {
    let shown = file.display();
    if checkup.schema.is_none() {
        report.ok(
            DATABASE,
            &format!("{shown} does not exist yet; the first start makes it"),
        );
        return;
    }
    report.ok(
        DATABASE,
        &format!("{shown} is read by {}", checkup.software),
    );
    lock(file, config, report);
    let bytes = beside(file, "-wal").metadata().map_or(0, |log| log.len());
    let found = format!("{} MiB", bytes >> 20);
    if bytes > LARGE_LOG_BYTES {
        report.warning(
            LOG,
            &found,
            "end the program that holds a snapshot of the file open",
        );
    } else {
        report.ok(LOG, &found);
    }
}

/// Takes the lock for a moment, shared, to see whether another process has it.
fn lock(file: &Path, config: &Config, report: &mut Report) {
    let path = beside(file, ".lock");
    let locked = File::open(&path).map(|lock| lock.try_lock_shared());
    let is_running = || matches!(Announcement::read(&config.data), Ok(Some(_)));
    match locked {
        Ok(Err(TryLockError::WouldBlock)) if is_running() => {
            report.ok(LOCK, "the server of this data folder has the database open");
        }
        Ok(Err(TryLockError::WouldBlock)) => report.failed(
            LOCK,
            &format!(
                "another process has the database open (it holds {})",
                path.display()
            ),
            Some("stop it, or choose another database"),
        ),
        Ok(Err(TryLockError::Error(error))) | Err(error)
            if error.kind() != std::io::ErrorKind::NotFound =>
        {
            let found = format!("{} cannot be opened: {error}", path.display());
            report.failed(LOCK, &found, Some("run this as the server's user"));
        }
        Ok(_) | Err(_) => report.ok(LOCK, "no process has the database open"),
    }
}

fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::is_older_than_tried;

    #[test]
    fn a_version_that_nobody_tried_is_recognized() {
        for (software, expected) in [
            ("PostgreSQL 9.6.24", true),
            ("PostgreSQL 13.22 (Debian 13.22-1.pgdg12+1)", true),
            ("PostgreSQL 14.23", false),
            ("PostgreSQL 15.13 (Debian 15.13-0+deb12u1)", false),
            ("PostgreSQL 19beta1", false),
            ("PostgreSQL", false),
        ] {
            assert_eq!(is_older_than_tried(software), expected, "{software}");
        }
    }
}
