//! Invoice files: received piece by piece, checked by content, stored under their SHA-256, and
//! removed when no operation names them.
//!
//! During the upload a file has no name on the disk, so that it disappears however the process
//! ends. Before it is stored, its hash is announced in the database; only files that were announced
//! an hour ago and are named by no operation are removed. So a crash between storing and commit
//! leaves nothing behind, and a file that is about to be named is never removed.

mod content_hash;
mod keep;
mod ledger;
mod media_type;
mod parts;
mod place;
mod quota;
mod spool;
mod sweep;
mod turns;
mod validate;

use std::fmt;
use std::io;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use preauth_core::port::Unavailable;
use preauth_core::value::CompanyId;
use thiserror::Error;

use crate::clock::Clock;
use crate::fair::{Budget, QueueError, Room, in_time};

pub use content_hash::ContentHash;
pub use keep::{Content, ContentStream};
pub use ledger::FileLedger;
pub use media_type::MediaType;
pub use place::{Place, PlaceError, is_s3, lacks_credentials};
pub use quota::{FileQuota, QuotaClaim};
pub use spool::{Spool, Spooled};
pub(crate) use sweep::SWEEP_BATCH;
pub use validate::{ContentMismatch, MAX_XML_DEPTH, validate};

use place::make_folder;
pub use turns::Turn;
use turns::Turns;

/// Maximum size of a file (contract, "Invoice file rules": 10 MB).
pub const FILE_LIMIT_BYTES: u64 = 10 * 1024 * 1024;
/// Maximum size of all uploads in progress together; they are on the disk.
const IN_FLIGHT_LIMIT_BYTES: u64 = 640 * 1024 * 1024;
/// Maximum number of uploads that wait for room.
const MAX_WAITING: usize = 1024;
/// Maximum number of files that are checked concurrently, and of files that are stored concurrently:
/// each may need as much memory as its size. The two are separate because storing may wait for a
/// remote storage.
const MAX_AT_WORK: u64 = 4;

/// The folder of uploads in progress; the files in it have no name.
const SPOOL_FOLDER: &str = "uploads";

/// The invoice files of a server.
pub struct InvoiceFiles {
    place: Place,
    ledger: Arc<dyn FileLedger>,
    clock: Arc<dyn Clock>,
    spool_folder: PathBuf,
    in_flight: Budget,
    checking: Budget,
    storing: Budget,
    turns: Turns,
    quota: FileQuota,
}

/// Why a file could not be stored or read.
#[derive(Debug, Error)]
pub enum FilesError {
    /// The disk with the upload failed, or is full.
    #[error("an upload could not be kept on the disk")]
    Spool(#[source] io::Error),
    /// The storage failed, or is full.
    #[error("the place of the invoice files failed")]
    Place(#[from] object_store::Error),
    /// The storage did not answer in time.
    #[error("the place of the invoice files did not answer within a minute")]
    TimedOut,
    /// The file of an operation is missing or damaged.
    #[error("file {0} is missing, or has another size than it should")]
    Lost(ContentHash),
    /// Too many requests wait.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The same content is being removed at this moment.
    #[error("file {0} is being removed right now")]
    BeingRemoved(ContentHash),
    /// The head office has reached its quota of files.
    #[error("the head office's files would exceed files.quota_gib")]
    QuotaExceeded,
    /// The database did not answer.
    #[error("the database of the invoice files cannot be reached")]
    Ledger(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl InvoiceFiles {
    /// Files in `place`, received in a folder of their own in `data`, the data folder.
    pub fn open(
        place: &str,
        data: &Path,
        ledger: Arc<dyn FileLedger>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, PlaceError> {
        let spool_folder = data.join(SPOOL_FOLDER);
        make_folder(&spool_folder)?;
        Ok(Self::new(Place::open(place)?, &spool_folder, ledger, clock))
    }

    /// Files in `place`, received in `spool_folder`, which must exist.
    ///
    /// `clock` is the machine's own: a sandbox that travels in time must not remove uploads in
    /// progress.
    #[must_use]
    pub fn new(
        place: Place,
        spool_folder: &Path,
        ledger: Arc<dyn FileLedger>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            place,
            ledger,
            clock,
            spool_folder: spool_folder.to_owned(),
            in_flight: Budget::in_quarters(IN_FLIGHT_LIMIT_BYTES, MAX_WAITING),
            checking: Budget::new(MAX_AT_WORK, MAX_WAITING),
            storing: Budget::new(MAX_AT_WORK, MAX_WAITING),
            turns: Turns::default(),
            quota: FileQuota::none(),
        }
    }

    /// Sets the quota of each head office.
    #[must_use]
    pub fn with_quota(mut self, quota: FileQuota) -> Self {
        self.quota = quota;
        self
    }

    /// The quota of each head office in bytes, if there is one.
    #[must_use]
    pub const fn quota_bytes(&self) -> Option<NonZeroU64> {
        self.quota.max_bytes()
    }

    /// Claims this number of bytes of a head office's quota until the claim is dropped, which must
    /// be after the commit of the operation that names the file. `None` without a quota.
    pub async fn claim_quota(
        &self,
        head_office: CompanyId,
        bytes: u64,
    ) -> Result<Option<QuotaClaim>, FilesError> {
        self.quota.claim(&*self.ledger, head_office, bytes).await
    }

    /// Waits until no other task of this process has the turn of this name; fails after 5 seconds.
    pub async fn turn(&self, name: &str) -> Result<Turn, FilesError> {
        Ok(in_time(self.turns.take(name)).await?)
    }

    /// Waits for room for `bytes` more; fails after 5 seconds. One head office gets at most a
    /// quarter of all room.
    pub async fn reserve(&self, bytes: u64) -> Result<Room, QueueError> {
        self.in_flight.acquire(bytes).await
    }

    /// A file on the disk for an upload; dropping it unfinished removes it.
    pub async fn spool(&self) -> io::Result<Spool> {
        Spool::open(self.spool_folder.clone()).await
    }

    /// Checks whether the content of a file has its declared type.
    pub async fn validate(
        &self,
        file: Arc<Spooled>,
        declared: MediaType,
    ) -> Result<Result<(), ContentMismatch>, FilesError> {
        let _turn = self.checking.acquire(1).await?;
        blocking(move || validate(file.reader(), declared))
            .await
            .map_err(FilesError::Spool)
    }
}

impl From<Unavailable> for FilesError {
    fn from(unavailable: Unavailable) -> Self {
        Self::Ledger(unavailable.cause)
    }
}

impl fmt::Debug for InvoiceFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InvoiceFiles")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// Runs work that waits for a disk, or computes for long, on a thread that may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(lost) => Err(io::Error::other(lost)),
    }
}
