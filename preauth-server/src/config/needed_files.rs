//! The files that `serve` needs and does not make itself.

use std::path::{Path, PathBuf};

use crate::store::DatabaseUrl;

use super::reader::Reader;

/// The settings that name such files.
const NAMED: [&str; 3] = [
    "platform_token_file",
    "platform_token_next_file",
    "master_key_file",
];

/// There is no master key on PostgreSQL, where no instance makes its own.
#[must_use]
pub fn no_master_key(path: &Path) -> String {
    let path = path.display();
    format!(
        "there is no master key file {path}; on PostgreSQL every instance needs the same one, and none makes its own: \
         make it once, `(umask 077; openssl rand -hex 32 > {path})`, and give every instance a copy, there or at \
         master_key_file"
    )
}

impl Reader<'_> {
    /// A file that this user cannot look for is left to `serve`.
    pub(super) fn missing_files(&mut self) {
        let is_missing = |path: &Path| path.try_exists().is_ok_and(|is_there| !is_there);
        for key in NAMED {
            let path = self.text(key);
            if !path.is_empty() && is_missing(Path::new(&path)) {
                self.problem(&format!("{key}: {path} does not exist"));
            }
        }
        let own_key = PathBuf::from(self.text("data")).join("master.key");
        let is_postgres = DatabaseUrl::from(self.text("database")).is_postgres();
        if is_postgres && self.text("master_key_file").is_empty() && is_missing(&own_key) {
            self.problem(&no_master_key(&own_key));
        }
    }
}
