//! The credentials for calling the sandbox, as text and as the ready file.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;

use secrecy::zeroize::Zeroizing;
use serde::{Deserialize, Serialize};

use crate::files;

/// The file in the data folder that keeps the credentials for the sandbox's next start: only hashes
/// of keys are stored, so nothing else could show them again.
const FILE_NAME: &str = "sandbox-credentials.json";

/// Keys, secret and companies of the demo data.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Credentials {
    /// Token of the private listener.
    pub platform_token: String,
    /// A key with both scopes.
    pub api_key: String,
    /// A key that may only read.
    pub read_only_api_key: String,
    /// A key that may only write.
    pub write_only_api_key: String,
    /// A key of the branch, with both scopes.
    pub branch_api_key: String,
    /// A key that has expired.
    pub expired_api_key: String,
    /// A key that was revoked.
    pub revoked_api_key: String,
    /// A key whose responsible user lost a permission.
    pub forbidden_user_api_key: String,
    /// A key whose responsible user was deactivated.
    pub deactivated_user_api_key: String,
    /// A key with the scope `notes:read` alone.
    pub legacy_api_key: String,
    /// The signing secret of the head office's endpoint.
    pub webhook_secret: String,
    /// The head office.
    pub company_cnpj: String,
    /// Its branch.
    pub branch_cnpj: String,
    /// A registered supplier.
    pub supplier_cnpj: String,
    /// A registered supplier that the head office blocks.
    pub blocked_supplier_cnpj: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(..)")
    }
}

/// The ready file: addresses and credentials in one JSON object.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadyFile<'a> {
    /// Base address of the integration API.
    pub base_url: String,
    /// Base address of the platform API.
    pub platform_url: String,
    /// Base address of the supplier's page.
    pub portal_url: String,
    /// The credentials.
    #[serde(flatten)]
    pub credentials: &'a Credentials,
}

impl Credentials {
    /// Reads the credentials of an earlier start from `data`, if there are any.
    pub fn load(data: &Path) -> io::Result<Option<Self>> {
        match files::read_secret(&data.join(FILE_NAME)) {
            Ok(text) => Ok(Some(serde_json::from_str(&text)?)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Stores them for the next start.
    pub fn keep(&self, data: &Path) -> io::Result<()> {
        let path = data.join(FILE_NAME);
        // Credentials of an earlier database here are no longer valid.
        files::remove_if_there(&path)?;
        let text = Zeroizing::new(serde_json::to_string_pretty(self)?);
        files::write_private(&path, text.as_bytes())
    }
}

impl ReadyFile<'_> {
    /// Removes the ready file of an earlier start, so that it is not taken for this one's.
    pub fn clear(path: &Path) -> io::Result<()> {
        files::remove_if_there(path)
    }

    /// Writes the file whole or not at all: a reader can use it as soon as it exists.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        files::write_private(path, text.as_bytes())
    }
}
