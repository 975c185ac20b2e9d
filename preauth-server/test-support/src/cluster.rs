//! The database server of the tests: the one named by the environment, or their own.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::LazyLock;

/// The URL of a server whose user may create databases; `scripts/test` sets it.
const URL: &str = "POSTGRES_TEST_URL";
/// Starts a server that stops with the command it runs.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/with-postgres");

/// The URL of the server, without a database.
pub fn url() -> &'static str {
    static CLUSTER: LazyLock<Cluster> = LazyLock::new(Cluster::find);
    &CLUSTER.url
}

struct Cluster {
    url: String,
    /// The server stops when this pipe closes, at the latest with this process.
    _own: Option<(Child, ChildStdin)>,
}

impl Cluster {
    fn find() -> Self {
        match std::env::var(URL) {
            Ok(url) => Self { url, _own: None },
            Err(_) => Self::start(),
        }
    }

    fn start() -> Self {
        let mut server = Command::new(SCRIPT)
            .args(["sh", "-c", &format!("echo \"${URL}\"; cat")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
        let mut url = String::new();
        BufReader::new(stdout).read_line(&mut url).unwrap();
        assert!(!url.is_empty(), "{SCRIPT} started no server");
        Self {
            url: url.trim().to_owned(),
            _own: Some((server, stdin)),
        }
    }
}

/// A name that no database of the server has.
pub fn new_name() -> String {
    // Process ids are reused; each hasher state has random keys.
    format!("test_{:016x}", RandomState::new().build_hasher().finish())
}
