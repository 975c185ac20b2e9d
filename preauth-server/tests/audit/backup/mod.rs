//! Backups of both databases with their invoice files, their restore, and what is refused.

mod cursors;
mod damaged;
mod kills;
pub(crate) mod place;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use test_support::{Backend, Scratch, on_each_database};

use place::{Place, Ran};

on_each_database! {
    a_backup_is_verified_and_restored_with_every_row_and_file,
    a_backup_overwrites_nothing,
    a_restore_overwrites_nothing,
    a_restore_replaces_a_damaged_file,
    files_that_are_lost_already_are_listed_on_demand_alone,
    files_may_stay_where_they_are,
    a_backup_that_violates_a_rule_is_reported,
}

async fn a_backup_is_verified_and_restored_with_every_row_and_file(backend: Backend) {
    let place = Place::alive(backend).await;
    let target = place.backup().await.ok_in("backup");
    let made = target.stdout();
    assert!(made.contains(": 7 operations, "), "{made}");
    assert!(made.contains(" 2 invoice files ("), "{made}");
    assert!(
        made.contains("\n  next: keep the master key file"),
        "{made}"
    );
    let folder = place.target();
    let permissions = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(permissions(&folder), 0o700);
    assert_eq!(permissions(&folder.join("manifest.json")), 0o600);
    assert!(!folder.join("INCOMPLETE").exists());

    let verified = place.verify().await.ok_in("verify");
    assert!(verified.stdout().contains("every rule holds: 7 operations"));

    let restored = Place::of(Scratch::empty(backend).await);
    restored.leave_parts_of(&place);
    restored.restore(&folder).await.ok_in("restore");
    restored.audit().await.ok_in("audit");
    assert_eq!(restored.files(), place.files());
    // A backup of what was restored has the same rows.
    restored.backup().await.ok_in("backup");
    assert_eq!(rows(&restored.target()), rows(&folder));
}

/// The tables of a backup with the number and the digest of their rows.
fn rows(folder: &Path) -> Value {
    let manifest = std::fs::read(folder.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    manifest["tables"].clone()
}

async fn a_backup_overwrites_nothing(backend: Backend) {
    let place = Place::alive(backend).await;
    let target = place.target();
    std::fs::create_dir(&target).unwrap();
    std::fs::write(target.join("mine"), "mine").unwrap();
    place.backup().await.refused_with("choose another name");
    assert_eq!(std::fs::read(target.join("mine")).unwrap(), b"mine");
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 1);
    std::fs::remove_dir_all(&target).unwrap();
    std::fs::write(&target, "mine").unwrap();
    place.backup().await.refused_with("choose another name");
    std::fs::remove_file(&target).unwrap();
    // An empty folder, as a mount has it, is taken.
    std::fs::create_dir(&target).unwrap();
    place.backup().await.ok_in("backup");
    place.backup().await.refused_with("choose another name");
    let all = place.folder().to_str().unwrap();
    let parent = place.run(&["backup", "verify", all]).await;
    parent.failed_with("is no backup itself, but holds backups: backup; name one of them");
    let nowhere = target.join("none");
    let nowhere = place
        .run(&["backup", "verify", nowhere.to_str().unwrap()])
        .await;
    nowhere.failed_with("none does not exist; name the folder of a backup");
    std::fs::write(target.join("INCOMPLETE"), "").unwrap();
    place.backup().await.refused_with("was interrupted");
    place.verify().await.failed_with("was interrupted");
    std::fs::remove_file(target.join("INCOMPLETE")).unwrap();
    std::fs::remove_file(target.join("manifest.json")).unwrap();
    place
        .verify()
        .await
        .failed_with("there is no manifest.json in it; name the folder of a backup");
}

async fn a_restore_overwrites_nothing(backend: Backend) {
    let place = Place::alive(backend).await;
    place.backup().await.ok_in("backup");
    let other = Place::of(Scratch::empty(backend).await);
    if let Scratch::Sqlite { file, .. } = &other.database {
        std::fs::write(file, "").unwrap();
    }
    other
        .database
        .execute(&["CREATE TABLE mine (a INTEGER)"])
        .await;
    let refused = other.restore(&place.target()).await;
    refused.refused_with("is not empty, and nothing is overwritten");
    other.database.execute(&["SELECT a FROM mine"]).await;
    let again = place.restore(&place.target()).await;
    again.refused_with("is not empty, and nothing is overwritten");
    place.audit().await.ok_in("audit");
}

async fn a_restore_replaces_a_damaged_file(backend: Backend) {
    let place = Place::alive(backend).await;
    place.backup().await.ok_in("backup");
    let restored = Place::of(Scratch::empty(backend).await);
    restored.take_files_of(&place);
    restored.damage_a_file();
    assert_ne!(restored.files(), place.files());
    restored.restore(&place.target()).await.ok_in("restore");
    assert_eq!(restored.files(), place.files());
}

async fn files_that_are_lost_already_are_listed_on_demand_alone(backend: Backend) {
    let place = Place::alive(backend).await;
    let lost = place.lose_a_file();
    let refused = place.backup().await;
    refused.refused_with("1 invoice files that operations name are missing or damaged");
    assert!(place.target().join("INCOMPLETE").exists());
    // What had been copied takes no room.
    assert_eq!(std::fs::read_dir(place.target()).unwrap().count(), 1);
    std::fs::remove_dir_all(place.target()).unwrap();
    let made = place.backup_with(&["--accept-missing"]).await;
    assert!(made.ok_in("backup").stdout().contains("1 of them missing"));
    place.verify().await.ok_in("verify");
    let restored = Place::of(Scratch::empty(backend).await);
    restored.restore(&place.target()).await.ok_in("restore");
    assert_eq!(restored.files(), place.files());
    assert!(!restored.files().contains_key(&lost));
}

async fn files_may_stay_where_they_are(backend: Backend) {
    let place = Place::alive(backend).await;
    let made = place.backup_with(&["--without-files"]).await;
    assert!(made.ok_in("backup").stdout().contains("not included"));
    assert!(!place.target().join("invoice-files").exists());
    place.verify().await.ok_in("verify");
    let restored = Place::of(Scratch::empty(backend).await);
    let (target, in_place) = (place.target(), ["--without-files"]);
    let refused = restored.restore_with(&target, &in_place).await;
    refused.refused_with("2 invoice files that operations name are missing");
    restored.take_files_of(&place);
    let again = restored.restore_with(&target, &in_place).await;
    again.ok_in("restore");
    restored.audit().await.ok_in("audit");
}

async fn a_backup_that_violates_a_rule_is_reported(backend: Backend) {
    let place = Place::alive(backend).await;
    place
        .database
        .execute(&["UPDATE operations SET invoice_number = 'NF-8' WHERE id = 4"])
        .await;
    place.backup().await.ok_in("backup");
    let verified: Ran = place.verify().await;
    assert_eq!(verified.code(), Some(1), "{}", verified.stderr());
    assert!(
        verified.stdout().contains("operation 4"),
        "{}",
        verified.stdout()
    );
}

#[tokio::test]
async fn a_table_that_the_server_does_not_know_is_not_left_out_in_silence() {
    let place = Place::alive(Backend::Postgres).await;
    place
        .database
        .execute(&["CREATE TABLE notes (a INTEGER)"])
        .await;
    let refused = place.backup().await;
    refused.refused_with("leaves nothing out in silence: notes;");
}

#[tokio::test]
async fn a_backup_of_the_other_kind_is_refused() {
    let place = Place::alive(Backend::Sqlite).await;
    place.backup().await.ok_in("backup");
    let other = Place::of(Scratch::empty(Backend::Postgres).await);
    let refused = other.restore(&place.target()).await;
    refused.refused_with("give a database of the same kind");
}

/// Whoever ran `migrate` on it first would have tables, and the restore would be refused.
#[tokio::test]
async fn a_restore_into_a_database_that_is_not_there_asks_for_an_empty_one() {
    let place = Place::alive(Backend::Postgres).await;
    place.backup().await.ok_in("backup");
    let missing = format!("{}_not", place.url());
    let target = place.target();
    let target = target.to_str().unwrap();
    let refused = place.run_on(&missing, &["restore", target]).await;
    refused.refused_with("_not`, then run this command again");
}

#[tokio::test]
async fn an_impossible_backup_is_refused_with_the_next_step() {
    let missing = Place::of(Scratch::empty(Backend::Sqlite).await);
    missing
        .backup()
        .await
        .refused_with("there is no database at ");
    let place = Place::alive(Backend::Sqlite).await;
    let nowhere = place.target().join("missing").join("backup");
    let refused = place.backup_to(&nowhere, &[]).await;
    refused.refused_with("check that its folder exists");
}

/// An owner who is no superuser, as `createuser` and `createdb --owner` make one.
#[tokio::test]
async fn a_restore_by_an_ordinary_owner_warns_of_nothing() {
    let place = Place::alive(Backend::Postgres).await;
    place.backup().await.ok_in("backup");
    let empty = Scratch::empty(Backend::Postgres).await;
    let url = empty.url();
    let (server, name) = url.rsplit_once('/').unwrap();
    let owner = format!("owner_of_{name}");
    let role = format!("CREATE ROLE {owner} LOGIN");
    let grant = format!("ALTER DATABASE {name} OWNER TO {owner}");
    empty.execute(&[&role, &grant]).await;
    let (_, address) = server.rsplit_once('@').unwrap();
    let its_url = format!("postgres://{owner}@{address}/{name}");
    let target = place.target();
    let target = target.to_str().unwrap();
    let restored = place
        .run_on(&its_url, &["restore", target])
        .await
        .ok_in("restore");
    let log = restored.stderr();
    assert!(!log.contains("WARN"), "{log}");
    assert!(!log.contains("only superuser"), "{log}");
    let analysed = format!("DO $$ BEGIN ASSERT {ANALYSED}, 'no statistics'; END $$");
    empty.execute(&[&analysed]).await;
}

/// Whether the planner knows how many operations there are.
const ANALYSED: &str = "(SELECT reltuples FROM pg_class WHERE relname = 'operations') = 7";

#[tokio::test]
async fn a_restore_on_sqlite_says_where_the_operator_token_belongs() {
    let place = Place::alive(Backend::Sqlite).await;
    place.backup().await.ok_in("backup");
    let restored = Place::of(Scratch::empty(Backend::Sqlite).await);
    let data = restored.folder().join("data");
    let data = data.to_str().unwrap();
    let done = restored
        .restore_with(&place.target(), &["--data", data])
        .await
        .ok_in("restore");
    let said =
        format!("the operator token is in no backup: put the old file to {data}/platform-token");
    assert!(done.stdout().contains(&said), "{}", done.stdout());
}

/// What `pg_dump` says of the schema, without the order of its statements.
fn schema(url: &str) -> Vec<String> {
    let mut dump = Command::new("pg_dump");
    dump.args(["--schema-only", "--no-owner", "--dbname", url]);
    let output = dump.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    // These are other ones in each dump.
    let statements = text
        .lines()
        .filter(|line| !line.starts_with("\\restrict") && !line.starts_with("\\unrestrict"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut statements: Vec<_> = statements.split("\n\n").map(str::to_owned).collect();
    statements.sort_unstable();
    statements
}

#[tokio::test]
async fn a_restored_database_has_the_schema_of_a_migrated_one() {
    let place = Place::alive(Backend::Postgres).await;
    place.backup().await.ok_in("backup");
    let restored = Place::of(Scratch::empty(Backend::Postgres).await);
    restored.restore(&place.target()).await.ok_in("restore");
    let (restored, original) = (schema(&restored.url()), schema(&place.url()));
    assert_eq!(restored, original);
}
