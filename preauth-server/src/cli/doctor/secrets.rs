//! The files that hold secrets: whether they can be used, by this user alone.

use std::error::Error;
use std::io;
use std::path::Path;

use crate::config::{Config, TokenSource};
use crate::files;
use crate::log::chain;
use crate::secret::{OperatorToken, Vault};

use super::report::Report;

const FOLDER: &str = "data folder";
const SECRETS: &str = "secret files";

pub(super) fn examine(config: &Config, report: &mut Report) {
    data_folder(&config.data, report);
    master_key(config, report);
    token("operator token", &config.platform_token, config, report);
    if let Some(next) = &config.next_platform_token {
        token("next operator token", next, config, report);
    }
    if let Some(login) = config
        .mail
        .smtp
        .as_ref()
        .and_then(|smtp| smtp.login.as_ref())
    {
        let path = &login.password_file;
        let named = |error| io::Error::other(format!("{}: {error}", path.display()));
        let read = files::read_secret(path).map(drop).map_err(named);
        file("mail password", path, read, report);
    }
}

fn data_folder(folder: &Path, report: &mut Report) {
    let shown = folder.display();
    if !folder.exists() {
        let found = format!("{shown} does not exist yet; the first start makes it");
        report.ok(FOLDER, &found);
        return;
    }
    match files::check_folder(folder) {
        Ok(()) => report.ok(FOLDER, &format!("only its owner writes to {shown}")),
        Err(error) => report.failed(FOLDER, &format!("{shown}: {error}"), None),
    }
}

fn master_key(config: &Config, report: &mut Report) {
    let path = &config.master_key_file;
    // Without a file it depends on the database what that means.
    if path.exists() || config.master_key_is_given {
        file("master key", path, Vault::open(path).map(drop), report);
    }
}

fn token(what: &str, source: &TokenSource, config: &Config, report: &mut Report) {
    match source {
        TokenSource::Given(_) => report.ok(SECRETS, &format!("{what}: given as a setting")),
        TokenSource::File(path) => file(what, path, OperatorToken::open(path).map(drop), report),
        TokenSource::Own => {
            let path = OperatorToken::file_in(&config.data);
            if path.exists() {
                file(what, &path, OperatorToken::open(&path).map(drop), report);
            } else {
                report.ok(SECRETS, &format!("{what}: the first start makes it"));
            }
        }
    }
}

fn file<E: Error + 'static>(what: &str, path: &Path, read: Result<(), E>, report: &mut Report) {
    match read {
        Ok(()) => {
            let shown = path.display();
            report.ok(SECRETS, &format!("{what}: only this user reads {shown}"));
        }
        Err(error) => report.failed(SECRETS, &format!("{what}: {}", chain(&error)), None),
    }
}
