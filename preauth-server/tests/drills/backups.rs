//! A database is backed up and audited repeatedly while ERPs create offers.

use std::process::{Command, Output};
use std::sync::atomic::Ordering;
use std::time::Duration;

use sqlx::PgPool;
use tempfile::TempDir;
use test_support::Database;
use tokio::time::{Instant, sleep};

use crate::chance::{ROUNDS, rounds};
use crate::instance::present_build;
use crate::observation::Observation;
use crate::scene::Scene;

/// Twice the size at which the server truncates its log.
const MAX_LOG_BYTES: u64 = 128 << 20;
/// Maximum time to copy a small database.
const MAX_TIME: Duration = Duration::from_mins(1);

async fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(present_build());
    // The server would refuse it as an unknown setting.
    command.args(arguments).env_remove(ROUNDS);
    command.env("PREAUTH_FILES_SHARED", "true");
    let ended = tokio::task::spawn_blocking(move || command.output());
    let output = ended.await.unwrap().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    let found = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{arguments:?}: {found}{error}");
    output
}

/// The number in front of these words.
fn number(output: &Output, words: &str) -> usize {
    let text = String::from_utf8_lossy(&output.stdout);
    let before = text.split(words).next().unwrap();
    before.rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn backups_and_audits_end_beside_load_and_the_log_stays_small() {
    let scene = Scene::on_file().await;
    let data = scene.first().data().to_owned();
    let log = data.join("preauth.db-wal");
    let data = data.to_str().unwrap();
    let largest = Observation::begin(|is_over| async move {
        let mut largest = 0;
        while !is_over.load(Ordering::Relaxed) {
            largest = log.metadata().map_or(0, |it| it.len()).max(largest);
            sleep(Duration::from_millis(50)).await;
        }
        largest
    });
    let load = scene.begin_load();
    let folder = TempDir::new().unwrap();
    let mut longest = Duration::ZERO;
    for round in 0..rounds(3) {
        scene.wait_for_offers(20).await;
        let before = scene.ledger.acknowledged();
        let target = folder.path().join(round.to_string());
        let began = Instant::now();
        let copied = run(&["backup", "--data", data, target.to_str().unwrap()]).await;
        longest = longest.max(began.elapsed());
        assert!(longest < MAX_TIME, "{longest:?}");
        let held = number(&copied, " operations, ");
        assert!(held >= before, "{held} copied, {before} were answered 201");
        run(&["audit", "--data", data]).await;
        let url = format!("sqlite://{}/preauth.db", target.display());
        let audited = run(&["audit", "--at-rest", "--database", &url]).await;
        assert_eq!(number(&audited, " operations, "), held);
        std::fs::remove_dir_all(target).unwrap();
    }
    load.end().await;
    let bytes = largest.end().await;
    assert!(bytes < MAX_LOG_BYTES, "the log grew to {bytes} bytes");
    println!(
        "{} backups and audits beside load: at most {longest:.1?} for a copy, log of {bytes} bytes; {}",
        rounds(3),
        scene.check_consistency().await
    );
}

#[tokio::test]
async fn backups_and_audits_of_postgresql_end_beside_load_and_hold_what_was_answered() {
    let database = Database::empty().await;
    let url = database.url();
    let scene = Scene::on(&url).await;
    let data = scene.first().data().to_owned();
    let data = ["--data", data.to_str().unwrap(), "--database", &url];
    // A sandbox made the records; a database in production has no mark of one, which a backup refuses to leave out.
    let sql = PgPool::connect(&url).await.unwrap();
    let unmark = sqlx::query("DROP TABLE preauth_sandbox").execute(&sql);
    unmark.await.unwrap();
    sql.close().await;
    let load = scene.begin_load();
    let folder = TempDir::new().unwrap();
    for round in 0..rounds(2) {
        scene.wait_for_offers(20).await;
        let before = scene.ledger.acknowledged();
        let target = folder.path().join(round.to_string());
        let target = target.to_str().unwrap();
        let copied = run(&[&["backup", target][..], &data].concat()).await;
        let held = number(&copied, " operations, ");
        assert!(held >= before, "{held} copied, {before} were answered 201");
        run(&[&["audit"][..], &data].concat()).await;
        // Every rule holds in the copy, as of one moment.
        let scratch = Database::empty().await.url();
        let verified = run(&["backup", "verify", target, "--scratch", &scratch]).await;
        assert_eq!(number(&verified, " operations, "), held);
    }
    load.end().await;
    println!(
        "{} backups and audits of PostgreSQL beside load: {}",
        rounds(2),
        scene.check_consistency().await
    );
}
