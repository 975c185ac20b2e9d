//! Acknowledged work survives a kill of the process in the middle of its work.

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use preauth_core::port::Viewer;
use preauth_core::value::OperationId;
use tempfile::TempDir;

use crate::database::Database;
use crate::store::fixture::Fixture;

/// Set in the process that will be killed, to the folder it works in.
const DOOMED_FOLDER: &str = "PREAUTH_TEST_DOOMED_FOLDER";
/// The file in which that process records its acknowledged offers.
const NOTES: &str = "notes";
const WORKERS: usize = 8;
const ANSWERS_BEFORE_THE_END: usize = 60;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_writes_survive_a_kill() {
    if let Ok(folder) = std::env::var(DOOMED_FOLDER) {
        work_and_die(Path::new(&folder)).await;
    }
    let folder = TempDir::new().unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "durability::acknowledged_writes_survive_a_kill"])
        .env(DOOMED_FOLDER, folder.path())
        .status()
        .unwrap();
    assert!(!status.success(), "{status}");

    // The lock ended with its owner.
    let fixture = Fixture::on(&Arc::new(Database::at(folder.path())), 2).await;
    let queries = &fixture.stores.queries;
    let notes = std::fs::read_to_string(folder.path().join(NOTES)).unwrap();
    assert!(notes.lines().count() >= ANSWERS_BEFORE_THE_END);
    let mut greatest = 0;
    for note in notes.lines() {
        let id = OperationId::parse(note).unwrap();
        greatest = greatest.max(id.get());
        assert!(queries.find(Viewer::Platform, id).await.unwrap().is_some());
        assert_eq!(queries.history(id).await.unwrap().len(), 1);
    }
    let payer = fixture.payer().await;
    assert!(fixture.offer(payer).await.id.get() > greatest);
}

/// Creates offers concurrently, records each answer, and aborts while others are pending.
async fn work_and_die(folder: &Path) -> ! {
    let fixture = Arc::new(Fixture::on(&Arc::new(Database::at(folder)), 1).await);
    let payer = fixture.payer().await;
    let notes = std::fs::File::create(folder.join(NOTES)).unwrap();
    let notes = Arc::new(Mutex::new((notes, 0)));
    for _ in 0..WORKERS {
        let (fixture, notes) = (Arc::clone(&fixture), Arc::clone(&notes));
        tokio::spawn(async move {
            loop {
                let operation = fixture.offer(payer).await;
                let mut notes = notes.lock().unwrap();
                writeln!(notes.0, "{}", operation.id).unwrap();
                notes.1 += 1;
                if notes.1 == ANSWERS_BEFORE_THE_END {
                    std::process::abort();
                }
            }
        });
    }
    std::future::pending().await
}
