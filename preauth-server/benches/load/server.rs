//! The real binary, serving.

use std::env;
use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use crate::http::TOKEN;

/// Unless the environment has another one.
const BINARY: &str = env!("CARGO_BIN_EXE_preauth-server");
/// Readiness is polled this often, at this interval.
const ASKS: u32 = 400;
const PAUSE: Duration = Duration::from_millis(50);

/// Makes each sync of a program take 3 ms longer. A tracer would do so, too, but slows down all else that
/// many threads do.
const SLOW_SYNC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/load/slow_sync.c");

/// The disk of the database's files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Disk {
    Own,
    /// Each sync takes 3 ms longer.
    Slow,
}

impl Disk {
    /// A command for a program whose files stand on this disk.
    pub(crate) fn command(self, program: &Path) -> Command {
        let mut command = Command::new(program);
        if self == Self::Slow {
            command.env("LD_PRELOAD", slow_sync().unwrap());
        }
        command
    }

    /// Whether this machine can have it.
    pub(crate) fn is_available(self) -> bool {
        self == Self::Own || slow_sync().is_some()
    }
}

/// The library that slows syncs down; `None` without a C compiler.
fn slow_sync() -> Option<&'static Path> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("slow_sync.so");
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-shared", "-fPIC", "-o"]);
        let ended = compiler.arg(&library).arg(SLOW_SYNC).status();
        ended.is_ok_and(|it| it.success()).then_some(library)
    });
    library.as_deref()
}

/// One instance; dropping the value stops it.
pub(crate) struct Server {
    pub(crate) address: String,
    pub(crate) platform: String,
    running: Child,
}

impl Server {
    /// Starts an instance and waits until it is ready.
    pub(crate) fn start(database: &str, folder: &Path, disk: Disk) -> Self {
        let mut serve = command(database, folder, disk, "serve");
        // One company may have an eighth of them in progress.
        serve.env("PREAUTH_CONNECTIONS_MAX", "8192");
        Self::run(serve, folder)
    }

    /// The same with as many connections as a server has by default.
    pub(crate) fn start_with_default_limits(database: &str, folder: &Path) -> Self {
        Self::run(command(database, folder, Disk::Own, "serve"), folder)
    }

    fn run(mut serve: Command, folder: &Path) -> Self {
        let (address, platform) = (free_address(), free_address());
        // On PostgreSQL the server does not create a master key.
        let key = folder.join("master.key");
        fs::write(&key, "ab".repeat(32)).unwrap();
        fs::set_permissions(key, PermissionsExt::from_mode(0o600)).unwrap();
        let mut running = serve
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

    pub(crate) fn signal(&self, signal: &str) {
        let process = self.process().to_string();
        let sent = Command::new("kill").args([signal, &process]).status();
        assert!(sent.unwrap().success());
    }

    fn children(&self) -> String {
        let process = self.process();
        let path = format!("/proc/{process}/task/{process}/children");
        fs::read_to_string(path).unwrap_or_default()
    }
}

/// Creates the schema.
pub(crate) fn migrate(database: &str, folder: &Path) {
    let mut migration = command(database, folder, Disk::Own, "migrate");
    let done = migration.stdout(Stdio::null()).status();
    assert!(done.unwrap().success());
}

fn command(database: &str, folder: &Path, disk: Disk, what: &str) -> Command {
    let binary = env::var_os("PREAUTH_SERVER").map_or_else(|| BINARY.into(), PathBuf::from);
    let mut command = disk.command(&binary);
    // The server refuses settings that it does not know.
    command.env_remove("PREAUTH_SERVER");
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
        // Each offer to a new address gets its mail.
        .env("PREAUTH_MAIL_NEW_ADDRESSES_PER_DAY", "10000000")
        .stderr(Stdio::from(log.unwrap()));
    command
}

fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

impl Drop for Server {
    fn drop(&mut self) {
        // A tracer ends with what it traces; without it that would go on.
        for child in self.children().split_whitespace() {
            let _ = Command::new("kill").args(["-KILL", child]).status();
        }
        let _ = self.running.kill();
        let _ = self.running.wait();
    }
}
