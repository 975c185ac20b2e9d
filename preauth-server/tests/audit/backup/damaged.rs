//! A damaged backup is neither taken for a good one nor restored.

use std::path::{Path, PathBuf};

use test_support::{Backend, Scratch, on_each_database};

use super::place::Place;

on_each_database! {
    damage_of_any_part_is_found_and_leaves_no_usable_database,
    a_backup_of_a_newer_server_is_refused,
}

/// Every file of the backup except its manifest.
fn parts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(parts(&path));
        } else if path.file_name().unwrap() != "manifest.json" {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn flip_a_bit(path: &Path) -> Vec<u8> {
    let sound = std::fs::read(path).unwrap();
    let mut damaged = sound.clone();
    if let Some(byte) = damaged.last_mut() {
        *byte ^= 1;
    } else {
        damaged.push(b'x');
    }
    std::fs::write(path, damaged).unwrap();
    sound
}

async fn damage_of_any_part_is_found_and_leaves_no_usable_database(backend: Backend) {
    let place = Place::alive(backend).await;
    place.backup().await.ok_in("backup");
    let restored = Place::of(Scratch::empty(backend).await);
    let parts = parts(&place.target());
    assert!(parts.len() >= 4, "{parts:?}");
    for (number, part) in parts.iter().enumerate() {
        // One in seven of the many tables is enough, and all other parts.
        let is_table = part.parent().unwrap().ends_with("tables");
        if is_table && number % 7 != 0 {
            continue;
        }
        let sound = flip_a_bit(part);
        place.verify().await.failed_with("the backup is damaged");
        let refused = restored.restore(&place.target()).await;
        assert_eq!(refused.code(), Some(1), "{}", part.display());
        assert_ne!(restored.audit().await.code(), Some(0), "{}", part.display());
        std::fs::write(part, sound).unwrap();
    }
    restored.restore(&place.target()).await.ok_in("restore");
    restored.audit().await.ok_in("audit");
}

async fn a_backup_of_a_newer_server_is_refused(backend: Backend) {
    let place = Place::alive(backend).await;
    place.backup().await.ok_in("backup");
    let path = place.target().join("manifest.json");
    let manifest = std::fs::read_to_string(&path).unwrap();
    let newer = manifest.replace("\"formatVersion\": 1", "\"formatVersion\": 2");
    assert_ne!(newer, manifest);
    std::fs::write(&path, newer).unwrap();
    place
        .verify()
        .await
        .failed_with("use that version or a newer one");
    let newer = manifest.replace("\"schemaVersion\": ", "\"schemaVersion\": 9");
    std::fs::write(&path, newer).unwrap();
    let restored = Place::of(Scratch::empty(backend).await);
    let refused = restored.restore(&place.target()).await;
    refused.refused_with("with the version of the server that made it");
}
