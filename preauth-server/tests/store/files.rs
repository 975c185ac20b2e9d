//! Which files are kept and which are removed, for every outcome of a request.

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::{Arc, Mutex};

use chrono::TimeDelta;
use preauth_core::operation::{Actor, InvoiceFile, Offer};
use preauth_core::value::Timestamp;
use preauth_server::clock::Clock;
use preauth_server::invoice_files::{ContentHash, FileQuota, FilesError, InvoiceFiles, Spooled};
use tempfile::TempDir;

use crate::store::fixture::Fixture;

struct SetClock(Mutex<Timestamp>);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

/// Files in a folder, and a database.
struct Scene {
    fixture: Fixture,
    files: InvoiceFiles,
    clock: Arc<SetClock>,
    folder: TempDir,
}

impl Scene {
    async fn new() -> Self {
        let fixture = Fixture::new().await;
        let clock = Arc::new(SetClock(Mutex::new(fixture.now)));
        let folder = TempDir::new().unwrap();
        let ledger = Arc::clone(&fixture.stores.files);
        let place = folder.path().join("files").display().to_string();
        let shown: Arc<dyn Clock> = clock.clone();
        let files = InvoiceFiles::open(&place, folder.path(), ledger, shown).unwrap();
        Self {
            fixture,
            files,
            clock,
            folder,
        }
    }

    fn pass(&self, time: TimeDelta) {
        let mut now = self.clock.0.lock().unwrap();
        *now = now.saturating_add(time);
    }

    /// A received and stored file; the test decides how its request continues.
    async fn keep(&self, content: &[u8]) -> Arc<Spooled> {
        let mut spool = self.files.spool().await.unwrap();
        spool.write(content).await.unwrap();
        let file = Arc::new(spool.finish().await.unwrap());
        self.files.keep(&file).await.unwrap();
        file
    }

    /// Creates an operation that refers to the file.
    async fn offer_with(&self, file: &Spooled) {
        let payer = self.fixture.payer().await;
        let mut offer = self.fixture.new_offer(payer);
        offer.file = Some(description(file));
        self.offered(&offer).await;
    }

    async fn offered(&self, offer: &Offer) {
        let now = self.fixture.now;
        let offered = self.fixture.service.offer(offer, Actor::Company, None, now);
        offered.await.unwrap();
    }

    async fn sweep(&self) -> u64 {
        self.files.sweep().await.unwrap()
    }

    async fn is_there(&self, file: &Spooled) -> bool {
        match self.files.read(file.hash(), file.size()).await {
            Ok(_) => true,
            Err(FilesError::Lost(_)) => false,
            Err(error) => panic!("{error}"),
        }
    }

    /// Puts a folder in a file's place: it can be neither removed nor replaced like a file.
    fn obstruct(&self, file: &Spooled) {
        let path = self.path(file.hash());
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(path).unwrap();
    }

    fn clear(&self, file: &Spooled) {
        std::fs::remove_dir(self.path(file.hash())).unwrap();
    }

    fn path(&self, file: ContentHash) -> std::path::PathBuf {
        let name = file.to_string();
        self.folder.path().join("files").join(&name[..2]).join(name)
    }
}

fn description(file: &Spooled) -> InvoiceFile {
    InvoiceFile {
        name: "nota.pdf".to_owned(),
        media_type: "application/pdf".to_owned(),
        size: file.size(),
        sha256: *file.hash().as_bytes(),
    }
}

fn exists(path: &Path, suffix: &str) -> bool {
    Path::new(&format!("{}{suffix}", path.display())).exists()
}

#[tokio::test]
async fn a_file_without_an_operation_is_removed_after_an_hour() {
    let scene = Scene::new().await;
    // The process ended between storing and commit, or the offer was refused.
    let file = scene.keep(b"%PDF-1").await;
    scene.pass(TimeDelta::minutes(59));
    assert_eq!(scene.sweep().await, 0);
    assert!(scene.is_there(&file).await);
    scene.pass(TimeDelta::minutes(2));
    assert_eq!(scene.sweep().await, 1);
    assert!(!scene.is_there(&file).await);
    assert_eq!(scene.sweep().await, 0);
}

#[tokio::test]
async fn a_file_that_an_operation_names_stays() {
    let scene = Scene::new().await;
    let file = scene.keep(b"%PDF-2").await;
    scene.offer_with(&file).await;
    scene.pass(TimeDelta::days(400));
    assert_eq!(scene.sweep().await, 1, "it is settled once");
    assert_eq!(scene.sweep().await, 0);
    assert!(scene.is_there(&file).await);
    // The same content arrives again and is refused this time: it still belongs to the first
    // operation.
    scene.keep(b"%PDF-2").await;
    scene.pass(TimeDelta::hours(2));
    assert_eq!(scene.sweep().await, 1);
    assert!(scene.is_there(&file).await);
}

#[tokio::test]
async fn content_that_comes_again_has_its_hour_again() {
    let scene = Scene::new().await;
    let file = scene.keep(b"%PDF-3").await;
    scene.pass(TimeDelta::minutes(59));
    scene.keep(b"%PDF-3").await;
    scene.pass(TimeDelta::minutes(59));
    assert_eq!(scene.sweep().await, 0);
    scene.offer_with(&file).await;
    scene.pass(TimeDelta::minutes(2));
    assert_eq!(scene.sweep().await, 1);
    assert!(scene.is_there(&file).await);
}

#[tokio::test]
async fn a_file_under_removal_is_stored_again_only_after_its_removal() {
    let scene = Scene::new().await;
    let ledger = &scene.fixture.stores.files;
    let file = scene.keep(b"%PDF-4").await;
    let long_ago = scene.fixture.now;
    scene.pass(TimeDelta::hours(2));
    let now = scene.clock.now();
    let claim = async |stale_before| {
        let claimed = ledger.claim_unnamed_files(now, stale_before, now, 10).await;
        claimed.unwrap()
    };
    assert_eq!(claim(long_ago).await, [file.hash()]);
    assert_eq!(
        claim(long_ago).await,
        [],
        "nobody else may remove it meanwhile"
    );
    let refused = scene.files.keep(&file).await;
    assert!(
        matches!(refused, Err(FilesError::BeingRemoved(_))),
        "{refused:?}"
    );
    // The first sweeper is dead, and another one takes over.
    let later = now.saturating_add(TimeDelta::milliseconds(1));
    assert_eq!(claim(later).await, [file.hash()]);
    ledger.forget_file(file.hash()).await.unwrap();
    scene.files.keep(&file).await.unwrap();
    assert!(scene.is_there(&file).await);
}

#[tokio::test]
async fn a_file_that_cannot_be_removed_blocks_neither_others_nor_its_own_content() {
    let scene = Scene::new().await;
    let stuck = scene.keep(b"%PDF-7").await;
    let other = scene.keep(b"%PDF-8").await;
    scene.obstruct(&stuck);
    scene.pass(TimeDelta::hours(2));
    assert_eq!(scene.sweep().await, 1);
    assert!(!scene.is_there(&other).await);
    scene.clear(&stuck);
    scene.files.keep(&stuck).await.unwrap();
    assert!(scene.is_there(&stuck).await);
    scene.pass(TimeDelta::hours(2));
    assert_eq!(scene.sweep().await, 1);
    assert!(!scene.is_there(&stuck).await);
}

#[tokio::test]
async fn files_whose_removal_failed_are_tried_again_an_hour_later_and_the_rest_at_once() {
    let scene = Scene::new().await;
    let mut files = Vec::new();
    for n in 0..5_u8 {
        files.push(scene.keep(&[b'%', n]).await);
    }
    for file in &files {
        scene.obstruct(file);
    }
    scene.pass(TimeDelta::hours(2));
    // After two of them the storage counts as failing.
    assert_eq!(scene.sweep().await, 0);
    for file in &files {
        scene.clear(file);
    }
    assert_eq!(scene.sweep().await, 3);
    scene.pass(TimeDelta::minutes(59));
    assert_eq!(scene.sweep().await, 0);
    scene.pass(TimeDelta::minutes(2));
    assert_eq!(scene.sweep().await, 2);
}

#[tokio::test]
async fn content_whose_sweeper_ended_is_stored_again_after_five_minutes() {
    let scene = Scene::new().await;
    let ledger = &scene.fixture.stores.files;
    let file = scene.keep(b"%PDF-9").await;
    scene.pass(TimeDelta::hours(2));
    let now = scene.clock.now();
    let claimed = ledger.claim_unnamed_files(now, now, now, 10).await;
    assert_eq!(claimed.unwrap(), [file.hash()]);
    scene.pass(TimeDelta::minutes(4));
    let refused = scene.files.keep(&file).await;
    assert!(
        matches!(refused, Err(FilesError::BeingRemoved(_))),
        "{refused:?}"
    );
    scene.pass(TimeDelta::minutes(2));
    scene.files.keep(&file).await.unwrap();
    // The new entry is not that of the removal, so that its end leaves it.
    ledger.forget_file(file.hash()).await.unwrap();
    scene.pass(TimeDelta::hours(2));
    assert_eq!(scene.sweep().await, 1);
    assert!(!scene.is_there(&file).await);
}

#[tokio::test]
async fn a_claim_is_released_by_its_own_sweeper_only() {
    let scene = Scene::new().await;
    let ledger = &scene.fixture.stores.files;
    let file = scene.keep(b"%PDF-10").await.hash();
    scene.pass(TimeDelta::hours(2));
    let began = scene.clock.now();
    let claimed = ledger.claim_unnamed_files(began, began, began, 10).await;
    assert_eq!(claimed.unwrap(), [file]);
    scene.pass(TimeDelta::minutes(6));
    let now = scene.clock.now();
    let taken_over = ledger.claim_unnamed_files(now, now, now, 10).await;
    assert_eq!(taken_over.unwrap(), [file]);
    let release = async |claimed_at| {
        let released = ledger.release_files(vec![file], claimed_at, None).await;
        released.unwrap();
        ledger.announce_file(file, now, now).await.unwrap()
    };
    assert!(!release(began).await);
    assert!(release(now).await);
}

#[tokio::test]
async fn the_sweep_removes_half_written_files() {
    let scene = Scene::new().await;
    let unnamed = scene.keep(b"%PDF-5").await;
    let named = scene.keep(b"%PDF-6").await;
    scene.offer_with(&named).await;
    let (unnamed, named) = (scene.path(unnamed.hash()), scene.path(named.hash()));
    for path in [&unnamed, &named] {
        std::fs::write(format!("{}#1", path.display()), "half").unwrap();
    }
    scene.pass(TimeDelta::hours(2));
    assert_eq!(scene.sweep().await, 2);
    assert!(!exists(&unnamed, "") && !exists(&unnamed, "#1"));
    assert!(exists(&named, "") && !exists(&named, "#1"));
}

#[tokio::test]
async fn two_sweepers_never_take_the_same_file() {
    let scene = Scene::new().await;
    let mut expected = Vec::new();
    for n in 0..20_u8 {
        expected.push(scene.keep(&[b'%', n]).await.hash());
    }
    scene.pass(TimeDelta::hours(2));
    let now = scene.clock.now();
    let ledger = &scene.fixture.stores.files;
    let claim = || ledger.claim_unnamed_files(now, scene.fixture.now, now, 15);
    let (one, other) = tokio::join!(claim(), claim());
    let mut claimed = [one.unwrap(), other.unwrap()].concat();
    claimed.extend(claim().await.unwrap());
    claimed.sort_unstable();
    expected.sort_unstable();
    assert_eq!(claimed, expected);
}

#[tokio::test]
async fn the_bytes_of_files_are_counted_for_the_head_office_whose_operations_name_them() {
    let scene = Scene::new().await;
    let (ledger, sql) = (&scene.fixture.stores.files, &scene.fixture.sql);
    let watch = &scene.fixture.stores.watch;
    let payer = scene.fixture.payer().await;
    assert_eq!(ledger.named_bytes(payer).await.unwrap(), 0);
    let first = scene.keep(&[b'x'; 1_000]).await;
    let second = scene.keep(&[b'x'; 50]).await;
    for file in [&first, &first, &second] {
        let mut offer = scene.fixture.new_offer(payer);
        offer.file = Some(description(file));
        scene.offered(&offer).await;
    }
    // Stored, with no operation that refers to it.
    scene.keep(&[b'x'; 10_000]).await;
    scene.fixture.offer(payer).await;
    assert_eq!(ledger.named_bytes(payer).await.unwrap(), 2_050);
    let other = scene.fixture.payer().await;
    assert_eq!(ledger.named_bytes(other).await.unwrap(), 0);
    assert_eq!(watch.offices_with_files_of(2_050).await.unwrap(), 1);
    assert_eq!(watch.offices_with_files_of(2_051).await.unwrap(), 0);
    let removed = "DELETE FROM invoice_files WHERE size_bytes = 50";
    sqlx::query(removed).execute(sql).await.unwrap();
    assert_eq!(ledger.named_bytes(payer).await.unwrap(), 2_000);
    let changed = "UPDATE invoice_files SET size_bytes = 999";
    sqlx::query(changed).execute(sql).await.unwrap();
    assert_eq!(ledger.named_bytes(payer).await.unwrap(), 1_998);
}

#[tokio::test]
async fn claims_of_a_quota_count_until_they_are_settled() {
    let mut scene = Scene::new().await;
    let quota = NonZeroU64::new(100).unwrap();
    scene.files = scene.files.with_quota(FileQuota::of_bytes(quota));
    let (payer, other) = (scene.fixture.payer().await, scene.fixture.payer().await);
    let claim = async |bytes| scene.files.claim_quota(payer, bytes).await;
    let first = claim(60).await.unwrap();
    let (mut second, mut third) = (Box::pin(claim(60)), Box::pin(claim(40)));
    assert!(futures_util::poll!(&mut second).is_pending());
    assert!(futures_util::poll!(&mut third).is_pending());
    assert!(scene.files.claim_quota(other, 100).await.is_ok());
    // The first claim is released: then there is room for both files, and for nothing else.
    drop(first);
    let both = (second.await.unwrap(), third.await.unwrap());
    let mut late = Box::pin(claim(1));
    assert!(futures_util::poll!(&mut late).is_pending());
    drop(both);
    drop(late.await.unwrap());
    assert!(matches!(claim(101).await, Err(FilesError::QuotaExceeded)));
    assert!(claim(100).await.is_ok());
}
