//! The real binary, serving.

use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::http::TOKEN;

const BINARY: &str = env!("CARGO_BIN_EXE_preauth-server");
/// Readiness is polled this often, at this interval.
const ASKS: u32 = 400;
const PAUSE: Duration = Duration::from_millis(50);

/// One instance; dropping the value stops it.
pub(crate) struct Server {
    pub(crate) address: String,
    pub(crate) platform: String,
    running: Child,
}

impl Server {
    /// Starts an instance and waits until it is ready.
    pub(crate) fn start(database: &str, folder: &Path) -> Self {
        let (address, platform) = (free_address(), free_address());
        // On PostgreSQL the server does not create a master key.
        let key = folder.join("master.key");
        std::fs::write(&key, "ab".repeat(32)).unwrap();
        std::fs::set_permissions(key, PermissionsExt::from_mode(0o600)).unwrap();
        let mut running = command(database, folder, "serve")
            .env("PREAUTH_LISTEN", &address)
            .env("PREAUTH_PLATFORM_LISTEN", &platform)
            .spawn()
            .unwrap();
        let is_ready = (0..ASKS).any(|_| {
            thread::sleep(PAUSE);
            TcpStream::connect(&platform).is_ok()
        });
        assert!(is_ready, "{:?}", running.try_wait());
        Self {
            address,
            platform,
            running,
        }
    }

    pub(crate) fn process(&self) -> u32 {
        self.running.id()
    }
}

/// Creates the schema.
pub(crate) fn migrate(database: &str, folder: &Path) {
    let done = command(database, folder, "migrate").status().unwrap();
    assert!(done.success());
}

fn command(database: &str, folder: &Path, what: &str) -> Command {
    let mut command = Command::new(BINARY);
    let log = File::options()
        .create(true)
        .append(true)
        .open(folder.join("log"));
    command
        .arg(what)
        .env("PREAUTH_DATABASE", database)
        .env("PREAUTH_DATA", folder)
        .env("PREAUTH_PLATFORM_TOKEN", TOKEN)
        .env("PREAUTH_FILES_SHARED", "true")
        .env("PREAUTH_WEBHOOKS_ALLOWED_NETWORKS", "127.0.0.0/8")
        .env("PREAUTH_RATE_LIMIT_REQUESTS", "4000000000")
        .stderr(Stdio::from(log.unwrap()));
    command
}

fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.running.kill();
        let _ = self.running.wait();
    }
}
