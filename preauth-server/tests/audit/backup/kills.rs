//! Backups and restores are killed at any moment: what is left says that it is incomplete, or is complete.

use std::time::Duration;

use test_support::{Backend, Scratch, on_each_database};
use tokio::time::{Instant, sleep};

use super::place::{Place, Ran};

on_each_database! {
    a_backup_that_is_killed_says_so_or_is_complete,
    a_restore_that_is_killed_leaves_nothing_that_a_server_takes,
}

/// Kills at moments that are spread over the whole run.
const KILLS: u32 = 14;

/// Runs the command and kills it after this time; returns whether it had ended by itself.
async fn killed_after(place: &Place, arguments: &[&str], time: Duration) -> bool {
    let mut command = place.command(arguments);
    let mut process = command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    sleep(time).await;
    let _ = process.kill();
    process.wait().unwrap().success()
}

/// The time of kill number `kill`, of a command that takes `whole`.
fn moment(whole: Duration, kill: u32) -> Duration {
    whole * kill / (KILLS - 2)
}

async fn a_backup_that_is_killed_says_so_or_is_complete(backend: Backend) {
    let place = Place::alive(backend).await;
    let began = Instant::now();
    place.backup().await.ok_in("backup");
    let whole = began.elapsed();
    let target = place.target();
    let (mut complete, mut incomplete) = (0, 0);
    for kill in 0..KILLS {
        std::fs::remove_dir_all(&target).unwrap_or_default();
        let arguments = ["backup", target.to_str().unwrap()];
        let has_ended = killed_after(&place, &arguments, moment(whole, kill)).await;
        let restored = Place::of(Scratch::empty(backend).await);
        let restoring: Ran = restored.restore(&target).await;
        if restoring.code() == Some(0) {
            complete += 1;
            restored.audit().await.ok_in("audit");
            continue;
        }
        assert!(!has_ended, "{}", restoring.stderr());
        incomplete += 1;
        assert_eq!(restoring.code(), Some(1));
        // A second backup begins only where nothing stands.
        let again = place.backup().await;
        if again.code() != Some(0) {
            again.refused_with("was interrupted");
        }
    }
    assert!(complete > 0 && incomplete > 0, "{complete} {incomplete}");
}

async fn a_restore_that_is_killed_leaves_nothing_that_a_server_takes(backend: Backend) {
    let place = Place::alive(backend).await;
    place.backup().await.ok_in("backup");
    let target = place.target();
    let began = Instant::now();
    let measured = Place::of(Scratch::empty(backend).await);
    measured.restore(&target).await.ok_in("restore");
    let whole = began.elapsed();
    let (mut complete, mut incomplete) = (0, 0);
    for kill in 0..KILLS {
        let restored = Place::of(Scratch::empty(backend).await);
        let arguments = ["restore", target.to_str().unwrap()];
        killed_after(&restored, &arguments, moment(whole, kill)).await;
        // The first refuses an empty database and a half restored one, and migrates nothing.
        if restored.audit().await.code() == Some(0) {
            complete += 1;
            continue;
        }
        incomplete += 1;
        let again = restored.restore(&target).await;
        if again.code() == Some(0) {
            restored.audit().await.ok_in("audit");
        } else {
            // All rows were there; at most a step of the schema was to be made.
            again.refused_with("is not empty");
            restored.run(&["migrate"]).await.ok_in("migrate");
            restored.audit().await.ok_in("audit");
        }
        assert_eq!(restored.files(), place.files());
    }
    assert!(complete > 0 && incomplete > 0, "{complete} {incomplete}");
}
