//! Determines the server when its address was not given: the one that runs on this machine.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::announcement::{self, Announcement};
use crate::config::{Layers, Source};
use crate::language::Language;
use crate::sandbox::TEMPORARY_FOLDER_PREFIX;

use super::words::{self, caused};

/// Settings that name a server; a sandbox is searched only when none of them is given, nor a
/// configuration file.
const POINTERS: [&str; 4] = [
    "data",
    "platform_listen",
    "platform_token",
    "platform_token_file",
];
const OTHERS_MAY: u32 = 0o077;

/// A server: its address and its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    /// The address of its platform API.
    pub(crate) url: String,
    /// Its data folder.
    pub(crate) data: PathBuf,
    /// Whether nothing named it: a sandbox that was found in the temporary folder.
    pub(super) is_found_sandbox: bool,
}

/// Why the server could not be determined.
#[derive(Debug)]
pub(crate) enum DiscoveryError {
    /// Several servers run; choosing one of them would be a guess.
    Several(Vec<Server>),
    /// No server runs there, so another process could listen at its address.
    NotRunning(PathBuf),
    /// The announcement could come from another user.
    NotBelieved {
        /// The folder.
        data: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

impl DiscoveryError {
    pub(super) fn text(&self, language: Language) -> String {
        match self {
            Self::Several(servers) => words::several(language, &lines(servers)),
            Self::NotRunning(data) => words::not_running(language, &data.display().to_string()),
            Self::NotBelieved { data, cause } => {
                let data = data.display().to_string();
                caused(&words::not_believed(language, &data), cause)
            }
        }
    }
}

/// The server to call: the one whose address is given, or the one that runs here. A configured port
/// is not called unless a server runs there, because another process may listen on it. With
/// `file_is_given`, a configuration file or a token file on the command line, no sandbox is meant.
pub(super) fn server(layers: &Layers, file_is_given: bool) -> Result<Server, DiscoveryError> {
    let data = PathBuf::from(layers.of("data").text);
    let given = layers.of("platform_url").text;
    if !given.is_empty() {
        return Ok(Server {
            url: given,
            data,
            is_found_sandbox: false,
        });
    }
    let believed = announced(&data);
    let believed = believed.map_err(|cause| DiscoveryError::NotBelieved {
        data: data.clone(),
        cause,
    });
    let mut running = Vec::from_iter(believed?);
    let is_given = |key| layers.of(key).source != Source::Default;
    if !file_is_given && !POINTERS.into_iter().any(is_given) {
        running.extend(sandboxes(&std::env::temp_dir()));
    }
    match running.pop() {
        None => Err(DiscoveryError::NotRunning(data)),
        Some(only) if running.is_empty() => Ok(only),
        Some(last) => {
            running.push(last);
            Err(DiscoveryError::Several(running))
        }
    }
}

fn announced(data: &Path) -> io::Result<Option<Server>> {
    let address = Announcement::read(data)?;
    Ok(address.map(|address| Server {
        url: announcement::url(address),
        data: data.to_owned(),
        is_found_sandbox: false,
    }))
}

/// The sandboxes of this user that run on a folder of their own. Another user's could be a trap.
fn sandboxes(folder: &Path) -> Vec<Server> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_sandbox = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with(TEMPORARY_FOLDER_PREFIX)
    };
    let is_own = |entry: &std::fs::DirEntry| {
        // A link is not followed: it is not a directory itself.
        entry.metadata().is_ok_and(|found| {
            found.is_dir()
                && found.mode() & OTHERS_MAY == 0
                && found.uid() == rustix::process::geteuid().as_raw()
        })
    };
    entries
        .filter(is_sandbox)
        .filter(is_own)
        .filter_map(|entry| announced(&entry.path()).ok().flatten())
        .map(|found| Server {
            is_found_sandbox: true,
            ..found
        })
        .collect()
}

fn lines(servers: &[Server]) -> String {
    let line = |server: &Server| format!("\n  --data {} ({})", server.data.display(), server.url);
    servers.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::{Announcement, DiscoveryError, Layers, Path, Server, sandboxes, server};
    use crate::files::create_private_directory;

    fn layers(pairs: &[(&'static str, &str)]) -> Layers {
        let mut layers = Layers::default();
        for (key, text) in pairs {
            layers.flag(key, Some((*text).to_owned()));
        }
        layers
    }

    fn announce(folder: &Path) -> Announcement {
        Announcement::publish(folder, "127.0.0.1:9".parse().unwrap()).unwrap()
    }

    #[test]
    fn a_given_address_wins_over_a_server_that_runs_here() {
        let folder = tempfile::tempdir().unwrap();
        let _lives = announce(folder.path());
        let data = ("data", folder.path().to_str().unwrap());
        let found = server(&layers(&[data]), false).unwrap();
        assert_eq!(found.url, "http://127.0.0.1:9");
        let given = layers(&[data, ("platform_url", "https://platform.example")]);
        assert_eq!(
            server(&given, false).unwrap().url,
            "https://platform.example"
        );
    }

    #[test]
    fn a_configured_address_is_not_asked_where_no_server_runs() {
        let folder = tempfile::tempdir().unwrap();
        let data = ("data", folder.path().to_str().unwrap());
        let listen = ("platform_listen", "127.0.0.1:81");
        let error = server(&layers(&[data, listen]), false).unwrap_err();
        assert!(matches!(error, DiscoveryError::NotRunning(_)), "{error:?}");
    }

    #[test]
    fn only_running_sandboxes_of_ones_own_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let made = |name: &str| {
            let path = folder.path().join(name);
            create_private_directory(&path).unwrap();
            path
        };
        let (runs, open) = (made("preauth-sandbox-1"), made("preauth-sandbox-2"));
        drop(announce(&made("preauth-sandbox-3")));
        let _lives = [announce(&runs), announce(&open), announce(&made("other"))];
        let open_to_all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&open, open_to_all).unwrap();
        std::os::unix::fs::symlink(&runs, folder.path().join("preauth-sandbox-4")).unwrap();
        let expected = Server {
            url: "http://127.0.0.1:9".to_owned(),
            data: runs,
            is_found_sandbox: true,
        };
        assert_eq!(sandboxes(folder.path()), [expected]);
    }
}
