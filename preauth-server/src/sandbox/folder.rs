//! The folder of a sandbox, which belongs to it like its database.

use std::io::{self, ErrorKind};
use std::path::Path;

use crate::files;
use crate::store::sandbox::SandboxId;

const FILE_NAME: &str = "sandbox-id";
/// A file of sandboxes of earlier versions, which servers never have.
const EARLIER: &str = "sandbox-credentials.json";
/// Files of a server that is not a sandbox.
const OTHERS: [&str; 3] = ["platform-token", "master.key", "preauth.db"];

/// The sandbox that the folder `data` belongs to; a new id if it belongs to none.
///
/// # Errors
/// When it belongs to a server that is not a sandbox, or cannot be read or written.
pub fn sandbox_of(data: &Path) -> io::Result<SandboxId> {
    files::check_folder(data)?;
    let path = data.join(FILE_NAME);
    match files::read_authentic(&path) {
        Ok(text) => {
            let id = text.trim().parse::<SandboxId>();
            return id.map_err(|error| io::Error::new(ErrorKind::InvalidData, error));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let is_there = |name: &&str| data.join(name).exists();
    if !is_there(&EARLIER)
        && let Some(name) = OTHERS.iter().find(|name| is_there(name))
    {
        let text =
            format!("it holds the {name} of a server that is no sandbox; choose another folder");
        return Err(io::Error::new(ErrorKind::AlreadyExists, text));
    }
    let id = SandboxId::random();
    files::write_private(&path, id.as_str().as_bytes())?;
    Ok(id)
}
