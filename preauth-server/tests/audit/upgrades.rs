//! Databases of earlier releases are brought up to this build's schema, pass the audit and serve. They are
//! backups, `tests/fixtures/schema-NUMBER/*.tar.gz`, that the release itself made:
//!
//! ```sh
//! WRITE_FIXTURES=1 scripts/with-postgres cargo test --workspace --all-features --locked --test audit fixture
//! ```
//!
//! writes those of the present schema, unless they exist: a release keeps them for ever. Steps 31, 32 and 34 have
//! none: each came between two that have one, and no release ends with it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use test_support::{Backend, Scratch, on_each_database};

use crate::backup::place::{Place, Ran};

on_each_database! {
    every_release_is_brought_up_audited_and_served,
    a_check_of_the_schema_lists_its_steps_and_changes_nothing,
    a_database_of_another_program_is_named_and_left_as_it_is,
    a_newer_schema_is_refused_with_the_way_back,
    write_the_fixture,
}

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
/// The schema of the first release.
const FIRST: &str = "schema-0030";
const MAX_BYTES: u64 = 300_000;
const TOKEN: &str = "upgrade-token-0123456789";

fn file_name(backend: Backend) -> &'static str {
    match backend {
        Backend::Sqlite => "sqlite.tar.gz",
        Backend::Postgres => "postgresql.tar.gz",
    }
}

fn releases() -> Vec<PathBuf> {
    let folders = std::fs::read_dir(FIXTURES).unwrap();
    let mut releases: Vec<_> = folders.map(|folder| folder.unwrap().path()).collect();
    releases.sort();
    assert!(releases[0].ends_with(FIRST), "{releases:?}");
    releases
}

/// The highest number in a folder's names, four digits after `prefix`.
fn newest_in(folder: &Path, prefix: &str) -> u32 {
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let numbers = names.filter_map(|name| {
        let digits = name.strip_prefix(prefix)?.get(..4)?;
        digits.parse::<u32>().ok()
    });
    numbers.max().unwrap()
}

/// The newest step alone may lack one, while it is being made.
#[test]
fn the_newest_step_or_the_one_before_it_is_kept() {
    let steps = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/sqlite");
    let newest = newest_in(&steps, "");
    let kept = newest_in(Path::new(FIXTURES), "schema-");
    assert!(
        kept + 1 >= newest,
        "the schema is at step {newest}, and the newest fixture is of {kept}: write one (above)"
    );
}

/// Unpacks a fixture beside an empty database.
async fn unpacked(backend: Backend, release: &Path) -> (Place, PathBuf) {
    let archive = release.join(file_name(backend));
    assert!(archive.metadata().unwrap().len() < MAX_BYTES);
    let place = Place::of(Scratch::empty(backend).await);
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(archive).arg("-C").arg(place.folder());
    assert!(tar.status().unwrap().success());
    let backup = place.folder().join("backup");
    (place, backup)
}

async fn every_release_is_brought_up_audited_and_served(backend: Backend) {
    for release in releases() {
        let (place, backup) = unpacked(backend, &release).await;
        place.verify().await.ok_in("verify");
        place.restore(&backup).await.ok_in("restore");
        place.run(&["migrate"]).await.ok_in("migrate");
        place.run(&["migrate", "--check"]).await.ok_in("check");
        let audited = place.audit().await.ok_in("audit").stdout();
        assert!(
            audited.contains("every rule holds: 17 operations"),
            "{audited}"
        );
        let (token, key) = (place.folder().join("token"), place.folder().join("key"));
        write_secret(&token, TOKEN);
        write_secret(&key, &"ab".repeat(32));
        served(&place, &["operation", "show", "1"], "CONCLUDED").await;
        served(&place, &["operation", "list"], "ON-ITS-WAY-4").await;
        served(&place, &["log", "list"], "suspendCompany").await;
    }
}

fn write_secret(path: &Path, text: &str) {
    let mut write = Command::new("sh");
    write.args(["-c", "umask 077; printf %s \"$2\" > \"$1\"", "sh"]);
    assert!(write.arg(path).arg(text).status().unwrap().success());
}

/// A server on the database answers this command with these words.
async fn served(place: &Place, arguments: &[&str], words: &str) {
    let data = place.folder().join("data");
    let data = data.to_str().unwrap();
    let mut serve = place.command(&["serve", "--data", data]);
    serve
        .args([
            "--listen",
            "127.0.0.1:0",
            "--platform-listen",
            "127.0.0.1:0",
        ])
        .env("PREAUTH_PLATFORM_TOKEN", TOKEN)
        .env("PREAUTH_MASTER_KEY_FILE", place.folder().join("key"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut server = serve.spawn().unwrap();
    let log = BufReader::new(server.stderr.take().unwrap());
    let mut seen = String::new();
    let ready = log.lines().map_while(Result::ok).find(|line| {
        seen.push_str(line);
        line.contains("\"ready\"")
    });
    assert!(ready.is_some(), "{seen}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_preauth-server"));
    command.args(arguments).args(["--data", data]);
    command
        .args(["--lang", "en", "--token-file"])
        .arg(place.folder().join("token"));
    let answered = tokio::task::spawn_blocking(move || command.output());
    let answered = Ran(answered.await.unwrap().unwrap()).ok_in("a request");
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(answered.stdout().contains(words), "{}", answered.stdout());
}

async fn a_check_of_the_schema_lists_its_steps_and_changes_nothing(backend: Backend) {
    let place = Place::of(Scratch::empty(backend).await);
    if let Scratch::Sqlite { file, .. } = &place.database {
        place
            .run(&["migrate", "--check"])
            .await
            .failed_with("there is no database at ");
        std::fs::write(file, "").unwrap();
    }
    for _ in 0..2 {
        let checked = place.run(&["migrate", "--check"]).await;
        assert_eq!(checked.code(), Some(1), "{}", checked.stderr());
        let text = checked.stdout();
        assert!(
            text.starts_with("the database has no schema yet; "),
            "{text}"
        );
        assert!(text.contains("\n  1 companies\n"), "{text}");
    }
    let migrated = place.run(&["migrate"]).await.ok_in("migrate");
    // PostgreSQL remarks on each object that a statement drops if it is there.
    let noticed = migrated.stderr();
    assert!(!noticed.contains("skipping"), "{noticed}");
    let checked = place.run(&["migrate", "--check"]).await.ok_in("check");
    assert!(checked.stdout().ends_with("; there is nothing to do\n"));
}

async fn a_database_of_another_program_is_named_and_left_as_it_is(backend: Backend) {
    let place = Place::of(Scratch::empty(backend).await);
    if let Scratch::Sqlite { file, .. } = &place.database {
        std::fs::write(file, "").unwrap();
    }
    // Of a later step than the first.
    let foreign = "CREATE TABLE operations (id INTEGER)";
    place.database.execute(&[foreign]).await;
    let words = "it has tables of another program (operations is one), and nothing in it was changed; \
                 choose another database";
    place.run(&["migrate", "--check"]).await.failed_with(words);
    place.run(&["migrate"]).await.refused_with(words);
    let nothing_was_made = [
        "CREATE TABLE companies (id INTEGER)",
        "CREATE TABLE _sqlx_migrations (id INTEGER)",
    ];
    place.database.execute(&nothing_was_made).await;
}

#[tokio::test]
async fn other_schemas_and_extensions_are_no_other_programs_tables() {
    let place = Place::of(Scratch::empty(Backend::Postgres).await);
    let others = [
        "CREATE SCHEMA other",
        "CREATE TABLE other.operations (id INTEGER)",
        "DO $$ BEGIN
             IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_stat_statements') THEN
                 CREATE EXTENSION pg_stat_statements;
             END IF;
         END $$",
    ];
    place.database.execute(&others).await;
    place.run(&["migrate"]).await.ok_in("migrate");
    place.run(&["migrate", "--check"]).await.ok_in("check");
}

/// As a newer server leaves it that supports no build from before.
const NEWER: [&str; 2] = [
    "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
     SELECT 9999, 'newer', success, checksum, 0 FROM _sqlx_migrations WHERE version = 1",
    "UPDATE schema_compatibility SET oldest_supported = 9999",
];

async fn a_newer_schema_is_refused_with_the_way_back(backend: Backend) {
    let place = Place::alive(backend).await;
    place.database.execute(&NEWER).await;
    let words = "there is no way back to an older schema but to restore a backup";
    place.run(&["migrate", "--check"]).await.failed_with(words);
    place.run(&["migrate"]).await.refused_with(words);
    place.backup().await.refused_with(words);
}

async fn write_the_fixture(backend: Backend) {
    if std::env::var_os("WRITE_FIXTURES").is_none() {
        return;
    }
    let place = Place::long_alive(backend).await;
    place.audit().await.ok_in("audit");
    place.backup().await.ok_in("backup");
    let manifest = std::fs::read(place.target().join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let schema = manifest["schemaVersion"].as_i64().unwrap();
    let folder = Path::new(FIXTURES).join(format!("schema-{schema:04}"));
    let archive = folder.join(file_name(backend));
    assert!(!archive.exists(), "a release's fixture stays as it is");
    std::fs::create_dir_all(folder).unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-czf")
        .arg(archive)
        .arg("-C")
        .arg(place.folder())
        .arg("backup");
    assert!(tar.status().unwrap().success());
}
