//! The copy of a SQLite database.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use test_support::{Backend, Scratch};

use crate::world::live_in;

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_preauth-server"));
    command.args(arguments).output().unwrap()
}

fn backup(url: &str, target: &Path) -> Output {
    run(&["backup", "--database", url, target.to_str().unwrap()])
}

/// The message of a refusal, which leaves no file behind.
fn refusal(output: &Output, folder: &TempDir, files: usize) -> String {
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), files);
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn in_folder() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("copy.db");
    (folder, target)
}

#[tokio::test]
async fn a_backup_is_a_database_in_which_every_rule_holds() {
    let database = Scratch::empty(Backend::Sqlite).await;
    live_in(&database).await;
    let (folder, target) = in_folder();
    let output = backup(&database.url(), &target);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    assert!(text.contains(": 7 operations, "), "{text}");
    assert!(
        text.contains("\n  next: keep the master key file"),
        "{text}"
    );
    let mode = target.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let url = format!("sqlite://{}", target.display());
    let audited = run(&["audit", "--at-rest", "--database", &url]);
    assert!(audited.status.success(), "{audited:?}");
}

#[tokio::test]
async fn a_backup_overwrites_nothing() {
    let database = Scratch::empty(Backend::Sqlite).await;
    live_in(&database).await;
    let (folder, target) = in_folder();
    std::fs::write(&target, "mine").unwrap();
    let output = backup(&database.url(), &target);
    let message = refusal(&output, &folder, 1);
    assert!(message.contains("choose another name"), "{message}");
    assert_eq!(std::fs::read(&target).unwrap(), b"mine");
}

#[tokio::test]
async fn a_backup_that_was_interrupted_is_not_taken_for_one() {
    let database = Scratch::empty(Backend::Sqlite).await;
    live_in(&database).await;
    let (folder, target) = in_folder();
    let incomplete = folder.path().join("copy.db.incomplete");
    std::fs::write(&incomplete, "half").unwrap();
    let message = refusal(&backup(&database.url(), &target), &folder, 1);
    assert!(message.contains("remove that file"), "{message}");
    std::fs::remove_file(&incomplete).unwrap();
    assert!(backup(&database.url(), &target).status.success());
}

#[tokio::test]
async fn an_impossible_backup_is_refused_with_the_next_step() {
    let database = Scratch::empty(Backend::Sqlite).await;
    live_in(&database).await;
    let (folder, target) = in_folder();
    let message = refusal(&backup("postgres://localhost/preauth", &target), &folder, 0);
    assert!(message.contains("pg_dump"), "{message}");
    let missing = format!("sqlite://{}", folder.path().join("missing.db").display());
    let message = refusal(&backup(&missing, &target), &folder, 0);
    assert!(message.contains("missing.db"), "{message}");
    let nowhere = folder.path().join("missing").join("copy.db");
    let message = refusal(&backup(&database.url(), &nowhere), &folder, 0);
    assert!(
        message.contains("check that its folder exists"),
        "{message}"
    );
}
