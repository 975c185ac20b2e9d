//! `doctor`: what it finds on a good machine, what it finds wrong, and that it changes nothing.

use std::fs::File;
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use serde_json::Value;
use test_support::{
    Backend, Database, Home, MailServer, Sandbox, Server, on_each_database, write_secret,
};

use crate::operator::{Done, preauth};

const TOKEN: &str = "operator-token-of-the-tests";

/// A configured machine: its folder, its resolver and its variables.
pub(crate) struct Machine {
    folder: tempfile::TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Machine {
    pub(crate) async fn new(backend: Backend) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write_secret(&folder.path().join("token"), TOKEN);
        write_secret(&folder.path().join("master.key"), &"ab".repeat(32));
        let mut machine = Self {
            folder,
            variables: vec![
                ("PREAUTH_PLATFORM_TOKEN_FILE", "token".to_owned()),
                ("PREAUTH_MASTER_KEY_FILE", "master.key".to_owned()),
                ("PREAUTH_FILES_SHARED", "true".to_owned()),
                ("PREAUTH_LISTEN", "127.0.0.1:0".to_owned()),
                ("PREAUTH_PLATFORM_LISTEN", "127.0.0.1:0".to_owned()),
                ("PREAUTH_WEBHOOKS_RESOLVER", resolver()),
                (
                    "PREAUTH_WEBHOOKS_ALLOWED_NETWORKS",
                    "127.0.0.0/8".to_owned(),
                ),
            ],
        };
        if backend == Backend::Postgres {
            let database = Database::fresh().await;
            machine.set("PREAUTH_DATABASE", database.url());
        }
        machine
    }

    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.variables.retain(|(each, _)| *each != name);
        self.variables.push((name, value.into()));
    }

    pub(crate) fn doctor(&self, arguments: &[&str]) -> Done {
        self.run(&[&["doctor"], arguments].concat())
    }

    fn run(&self, arguments: &[&str]) -> Done {
        let variables = self.variables.iter();
        let variables: Vec<_> = variables
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        preauth(self.folder.path(), arguments, &variables)
    }

    /// On the database and data folder of a home.
    pub(crate) fn move_into(&mut self, home: &Home) {
        let data = home.folder().join("data");
        self.set("PREAUTH_DATA", data.to_str().unwrap());
        if let Some(url) = home.database_flags().pop() {
            self.set("PREAUTH_DATABASE", url);
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// The address of a resolver that knows no name.
fn resolver() -> String {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    thread::spawn(move || {
        let mut packet = [0; 512];
        while let Ok((length, client)) = socket.recv_from(&mut packet) {
            // The question comes back as an answer: NXDOMAIN, no records.
            packet[2] = 0x81;
            packet[3] = 0x83;
            packet[6..12].fill(0);
            // Without the client's additional record.
            let mut labels = packet[12..length].split_inclusive(|byte| *byte == 0);
            let name = labels.next().unwrap().len();
            let end = name.saturating_add(12 + 4);
            let _ = socket.send_to(&packet[..end], client);
        }
    });
    address.to_string()
}

/// The line of a check that contains `part`.
#[track_caller]
pub(crate) fn line<'a>(done: &'a Done, check: &str, part: &str) -> &'a str {
    let mut lines = done.out.lines();
    let found = lines
        .find(|line| line.get(9..).is_some_and(|it| it.starts_with(check)) && line.contains(part));
    found.unwrap_or_else(|| panic!("{check:?} {part:?} in {}{}", done.out, done.err))
}

/// The tests' PostgreSQL may run without fsync, and the doctor reports it; nothing else may fail.
#[track_caller]
pub(crate) fn is_well(done: &Done, backend: Backend) {
    let failed = done.out.lines().filter(|line| line.starts_with("failed "));
    let failed: Vec<_> = failed.collect();
    let is_weak = backend == Backend::Postgres
        && failed.len() == 1
        && failed[0].contains("fsync = off")
        && failed[0].contains("; next: set fsync");
    assert!(failed.is_empty() || is_weak, "{}", done.out);
    let code = i32::from(!failed.is_empty());
    assert_eq!((done.code, done.err.as_str()), (code, ""), "{}", done.out);
}

#[track_caller]
pub(crate) fn failed(done: &Done, check: &str, parts: &[&str]) {
    assert_eq!(done.code, 1, "{}{}", done.out, done.err);
    let line = line(done, check, parts[0]);
    assert!(line.starts_with("failed "), "{line}");
    for part in parts {
        assert!(line.contains(part), "{part:?} in {line}");
    }
    let others = done.out.lines().filter(|line| line.starts_with("failed "));
    assert!(
        others.count() == 1,
        "one cause fails one check: {}",
        done.out
    );
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

on_each_database!(
    a_good_machine_passes_and_stays_as_it_is,
    a_running_server_is_recognized,
    master_keys_that_do_not_fit_the_database_fail,
    a_database_of_another_deployment_fails,
);

async fn a_good_machine_passes_and_stays_as_it_is(backend: Backend) {
    let machine = Machine::new(backend).await;
    let before = names(machine.path());
    let done = machine.doctor(&[]);
    is_well(&done, backend);
    for (check, part) in [
        ("version", "preauth-server"),
        ("time zone", "in São Paulo"),
        ("configuration", "usable"),
        (
            "secret files",
            "master key: only this user reads master.key",
        ),
        ("master keys", "they open all 0 signing secrets"),
        ("secret files", "operator token: only this user reads token"),
        ("disk", "data:"),
        (
            "schema",
            if backend == Backend::Sqlite {
                "first start"
            } else {
                "up to date"
            },
        ),
        ("clock", "this machine's clock"),
        ("listeners", "platform_listen 127.0.0.1:0 is free"),
        ("dns", "answers"),
        ("outbound", "root certificates"),
    ] {
        assert!(line(&done, check, part).starts_with("ok "), "{}", done.out);
    }
    assert!(line(&done, "mail", "mails become files").contains("; next: set mail.smtp_host"));
    assert_eq!(names(machine.path()), before);
    let json = machine.doctor(&["--json"]);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    let state = if done.code == 0 { "warning" } else { "failed" };
    assert_eq!(json["state"], state);
    let lines = done.out.lines().count();
    assert_eq!(json["checks"].as_array().unwrap().len(), lines);
}

async fn a_running_server_is_recognized(backend: Backend) {
    let home = Home::new(backend).await;
    let data = home.folder().join("data");
    let database = home.database_flags().pop();
    let server = Server::start_in(home, TOKEN).await;
    let mut machine = Machine::new(Backend::Sqlite).await;
    machine.set("PREAUTH_DATA", data.to_str().unwrap());
    machine.set(
        "PREAUTH_LISTEN",
        server.base_url.trim_start_matches("http://"),
    );
    machine.set(
        "PREAUTH_PLATFORM_LISTEN",
        server.platform_url.trim_start_matches("http://"),
    );
    if let Some(url) = database {
        machine.set("PREAUTH_DATABASE", url);
    }
    let before = names(&data);
    let done = machine.doctor(&[]);
    is_well(&done, backend);
    line(&done, "schema", "up to date");
    for key in ["listen ", "platform_listen "] {
        let line = line(&done, "listeners", &format!(" {key}"));
        assert!(
            line.contains("while the server of this data folder runs"),
            "{line}"
        );
    }
    match backend {
        Backend::Sqlite => {
            assert!(line(&done, "lock file", "has the database open").starts_with("ok "));
        }
        Backend::Postgres => {
            let line = line(&done, "connections", "are free");
            assert!(!line.contains(" 0 are this service's"), "{line}");
            assert!(line.starts_with("ok "), "{line}");
        }
    }
    assert_eq!(names(&data), before);
}

async fn master_keys_that_do_not_fit_the_database_fail(backend: Backend) {
    let home = Sandbox::start(backend).await.kill();
    let mut machine = Machine::new(Backend::Sqlite).await;
    machine.move_into(&home);
    let data = home.folder().join("data");
    let key = data.join("master.key");
    machine.set("PREAUTH_MASTER_KEY_FILE", key.to_str().unwrap());
    let before = names(&data);
    let done = machine.doctor(&[]);
    is_well(&done, backend);
    let opened = line(&done, "master keys", "they open all");
    assert!(
        opened.starts_with("ok ") && !opened.contains("all 0 "),
        "{opened}"
    );

    write_secret(&machine.path().join("other.key"), &"cd".repeat(32));
    machine.set("PREAUTH_MASTER_KEY_FILE", "other.key");
    let done = machine.doctor(&[]);
    let found = line(&done, "master keys", "sealed with another master key");
    assert!(found.starts_with("failed ") && done.code == 1, "{found}");
    for next in [
        "and this server knows only",
        "from your copy",
        "abandon-master-key",
    ] {
        assert!(found.contains(next), "{found}");
    }

    machine
        .variables
        .retain(|(name, _)| *name != "PREAUTH_MASTER_KEY_FILE");
    let kept = machine.path().join("kept.key");
    std::fs::rename(&key, &kept).unwrap();
    let done = machine.doctor(&[]);
    let found = line(&done, "master keys", "and this server knows none");
    assert!(
        found.starts_with("failed ") && !found.contains("openssl"),
        "{found}"
    );
    std::fs::rename(&kept, &key).unwrap();
    assert_eq!(names(&data), before);
}

async fn a_database_of_another_deployment_fails(backend: Backend) {
    let home = Arc::new(Home::new(backend).await);
    let server = Server::start_in(Arc::clone(&home), TOKEN).await;
    server.stop();
    let mut machine = Machine::new(Backend::Sqlite).await;
    machine.move_into(&home);
    machine
        .variables
        .retain(|(name, _)| *name != "PREAUTH_MASTER_KEY_FILE");
    let done = machine.doctor(&[]);
    is_well(&done, backend);
    let unnamed = line(&done, "deployment", "no deployment_id is set");
    assert!(
        unnamed.starts_with("warning ") && unnamed.contains("; next: set"),
        "{unnamed}"
    );

    machine.set("PREAUTH_DEPLOYMENT_ID", "plataforma-1");
    let done = machine.doctor(&[]);
    let found = line(&done, "deployment", "and this instance to plataforma-1");
    assert!(
        found.starts_with("failed ") && found.contains("`preauth-server adopt`"),
        "{found}"
    );
    let adopted = machine.run(&["adopt", "--yes"]);
    assert_eq!(adopted.code, 0, "{}", adopted.err);
    let done = machine.doctor(&[]);
    is_well(&done, backend);
    assert!(line(&done, "deployment", "belongs to this deployment").starts_with("ok "));
}

#[tokio::test]
async fn a_database_that_is_away_fails() {
    let mut machine = Machine::new(Backend::Sqlite).await;
    machine.set(
        "PREAUTH_DATABASE",
        "postgres://ana:geheim@127.0.0.1:1/preauth",
    );
    let done = machine.doctor(&[]);
    failed(
        &done,
        "database",
        &["does not answer", "check that it runs"],
    );
    assert!(!done.out.contains("geheim"), "{}", done.out);
}

#[tokio::test]
async fn a_schema_that_is_missing_fails_with_the_command_that_makes_it() {
    let mut machine = Machine::new(Backend::Sqlite).await;
    machine.set("PREAUTH_DATABASE", Database::empty().await.url());
    let done = machine.doctor(&[]);
    let line = line(&done, "schema", "steps are missing");
    assert!(
        line.starts_with("failed ") && line.contains("preauth-server migrate"),
        "{line}"
    );
}

#[tokio::test]
async fn a_secret_file_that_all_can_read_fails() {
    let machine = Machine::new(Backend::Sqlite).await;
    crate::secret_files::put(machine.path(), "token", TOKEN, 0o644);
    let done = machine.doctor(&[]);
    failed(
        &done,
        "secret files",
        &["operator token", "chmod 600 token"],
    );
    assert!(!done.out.contains(TOKEN), "{}", done.out);
}

#[tokio::test]
async fn a_lock_that_another_program_holds_fails() {
    let machine = Machine::new(Backend::Sqlite).await;
    let migrated = preauth(machine.path(), &["migrate"], &[]);
    assert_eq!(migrated.code, 0, "{}", migrated.err);
    let lock = machine.path().join("preauth-data/preauth.db.lock");
    let held = File::open(lock).unwrap();
    held.lock().unwrap();
    let before = names(&machine.path().join("preauth-data"));
    failed(
        &machine.doctor(&[]),
        "lock file",
        &["another process", "stop it"],
    );
    assert_eq!(names(&machine.path().join("preauth-data")), before);
    held.unlock().unwrap();
    let done = machine.doctor(&[]);
    assert_eq!(done.code, 0, "{}", done.out);
    line(&done, "lock file", "no process has the database open");
}

#[tokio::test]
async fn a_mail_server_is_greeted_and_gets_no_mail() {
    let mut machine = Machine::new(Backend::Sqlite).await;
    let server = MailServer::start().await;
    machine.set("PREAUTH_MAIL_FROM", "Plataforma <avisos@example.com>");
    machine.set("PREAUTH_MAIL_SMTP_HOST", "127.0.0.1");
    machine.set("PREAUTH_MAIL_SMTP_TLS", "none");
    machine.set("PREAUTH_MAIL_SMTP_PORT", server.address.port().to_string());
    machine.set("PREAUTH_MAIL_SMTP_USER", "avisos");
    machine.set("PREAUTH_MAIL_SMTP_PASSWORD_FILE", "password");
    write_secret(&machine.path().join("password"), "segredo-do-relay");
    // The command blocks this thread.
    let machine = tokio::task::spawn_blocking(move || {
        let done = machine.doctor(&[]);
        assert_eq!(done.code, 0, "{}", done.out);
        line(&done, "mail", "accepts the login");
        machine
    });
    let mut machine = machine.await.unwrap();
    assert_eq!(server.logins().len(), 1);
    server.refuse_logins(true);
    let machine = tokio::task::spawn_blocking(move || {
        let done = machine.doctor(&[]);
        failed(&done, "mail", &["refuses the login", "mail.smtp_user"]);
        assert!(!done.out.contains("segredo-do-relay"), "{}", done.out);
        machine.set("PREAUTH_MAIL_SMTP_PORT", "1");
        machine
    });
    let machine = machine.await.unwrap();
    failed(
        &machine.doctor(&[]),
        "mail",
        &["cannot be reached", "mail.smtp_port"],
    );
}

#[tokio::test]
async fn a_listener_that_another_program_has_fails() {
    let mut machine = Machine::new(Backend::Sqlite).await;
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    machine.set("PREAUTH_LISTEN", other.local_addr().unwrap().to_string());
    let done = machine.doctor(&[]);
    failed(
        &done,
        "listeners",
        &[" listen ", "choose another address for listen"],
    );
}

#[tokio::test]
async fn a_resolver_that_is_silent_and_a_receiver_that_is_away_fail() {
    let mut machine = Machine::new(Backend::Sqlite).await;
    let done = machine.doctor(&["--url", "https://127.0.0.1:1/hooks/secret"]);
    failed(
        &done,
        "outbound",
        &[
            "https://127.0.0.1:1",
            "CONNECTION_REFUSED",
            "start the receiver",
        ],
    );
    failed(
        &machine.doctor(&["--url", "http://127.0.0.1:1/x"]),
        "outbound",
        &["start the receiver", "register an https URL"],
    );
    assert!(!done.out.contains("secret/"), "{}", done.out);
    assert!(!done.out.contains("/hooks"), "{}", done.out);
    failed(
        &machine.doctor(&["--url", "https://10.1.2.3"]),
        "outbound",
        &["ADDRESS_REFUSED", "webhooks.allowed_networks"],
    );
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let reached = format!("http://{}/", listener.local_addr().unwrap());
    assert_eq!(machine.doctor(&["--url", &reached]).code, 0);
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    machine.set(
        "PREAUTH_WEBHOOKS_RESOLVER",
        silent.local_addr().unwrap().to_string(),
    );
    failed(
        &machine.doctor(&[]),
        "dns",
        &["the resolver 127.0.0.1", "correct webhooks.resolver"],
    );
}

#[tokio::test]
async fn a_configuration_that_is_wrong_fails_with_every_problem() {
    let mut machine = Machine::new(Backend::Sqlite).await;
    machine.set("PREAUTH_LISTEN", "nowhere");
    machine.set("PREAUTH_RATE_LIMIT_REQUESTS", "0");
    let done = machine.doctor(&[]);
    assert_eq!(done.code, 1, "{}", done.out);
    assert!(line(&done, "configuration", "listen must be").starts_with("failed "));
    assert!(line(&done, "configuration", "rate_limit.requests").starts_with("failed "));
    assert!(!machine.path().join("preauth-data").exists());
}
