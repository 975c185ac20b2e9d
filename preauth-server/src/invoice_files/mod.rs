//! Invoice files: taken in piece by piece, checked by their content, kept under its SHA-256, and
//! swept when no operation names them.
//!
//! A file lies on the disk without a name while it comes in, so that whatever ends the process takes
//! it along. Before it is stored, its hash is announced in the database; only what was announced an
//! hour ago and is named by no operation is swept. So a crash between storing and commit leaves
//! nothing behind, and a file that is about to be named is never taken away.

mod content_hash;
mod keep;
mod ledger;
mod media_type;
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
use crate::fair::{Budget, QueueError, Room};

pub use content_hash::ContentHash;
pub use keep::{Content, ContentStream};
pub use ledger::FileLedger;
pub use media_type::MediaType;
pub use place::{Place, PlaceError, is_s3};
pub use quota::{FileQuota, QuotaClaim};
pub use spool::{Spool, Spooled};
pub use validate::{Unlike, XML_DEPTH_LIMIT, validate};

use place::make_folder;
pub use turns::Turn;
use turns::Turns;

/// A file may have so many bytes (contract, "Invoice file rules": 10 MB).
pub const FILE_LIMIT_BYTES: u64 = 10 * 1024 * 1024;
/// Uploads under way may have so many bytes together; they lie on the disk.
const IN_FLIGHT_LIMIT_BYTES: u64 = 640 * 1024 * 1024;
/// Uploads that may wait for that.
const WAITING_LIMIT: usize = 1024;
/// Files that are checked or stored at once: each may hold as much memory as a file has bytes.
const AT_WORK_LIMIT: u64 = 4;

/// Where files lie while they come in; whatever is in it has no name.
const SPOOL_FOLDER: &str = "uploads";

/// The files of a server.
pub struct InvoiceFiles {
    place: Place,
    ledger: Arc<dyn FileLedger>,
    clock: Arc<dyn Clock>,
    spool_folder: PathBuf,
    in_flight: Budget,
    at_work: Budget,
    turns: Turns,
    quota: FileQuota,
}

/// Why a file could not be kept or given back.
#[derive(Debug, Error)]
pub enum FilesError {
    /// The disk under the upload failed, or is full.
    #[error("an upload could not be kept on the disk")]
    Spool(#[source] io::Error),
    /// The place where files are kept failed, or is full.
    #[error("the place of the invoice files failed")]
    Place(#[from] object_store::Error),
    /// The place did not answer in time.
    #[error("the place of the invoice files did not answer within a minute")]
    TimedOut,
    /// An operation names a file that is not there, or is not what it should be.
    #[error("file {0} is missing, or has another size than it should")]
    Lost(ContentHash),
    /// Too many wait for their turn.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The same content is being removed this very moment.
    #[error("file {0} is being removed right now")]
    BeingRemoved(ContentHash),
    /// The head office's files have all the room that they may have.
    #[error("the head office's files would exceed files.quota_gib")]
    QuotaExceeded,
    /// The database could not be asked.
    #[error("the database of the invoice files cannot be reached")]
    Ledger(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl InvoiceFiles {
    /// Files in `place`, taken in through a folder of their own in `data`, the data folder.
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

    /// Files in `place`, taken in through `spool_folder`, which exists.
    ///
    /// `clock` is the machine's own: a sandbox that travels in time must not sweep what is coming in.
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
            in_flight: Budget::in_quarters(IN_FLIGHT_LIMIT_BYTES, WAITING_LIMIT),
            at_work: Budget::without_deadlines(AT_WORK_LIMIT, WAITING_LIMIT),
            turns: Turns::default(),
            quota: FileQuota::none(),
        }
    }

    /// The same, with so much room for the files of each head office.
    #[must_use]
    pub fn with_quota(mut self, quota: FileQuota) -> Self {
        self.quota = quota;
        self
    }

    /// How many bytes the files of each head office may have, if that is limited.
    #[must_use]
    pub const fn quota_bytes(&self) -> Option<NonZeroU64> {
        self.quota.max_bytes()
    }

    /// Claims so many bytes of a head office's quota until the claim is dropped, which must be after
    /// the operation that names the file is committed. None when there is no quota.
    pub async fn claim_quota(
        &self,
        head_office: CompanyId,
        bytes: u64,
    ) -> Result<Option<QuotaClaim>, FilesError> {
        self.quota.claim(&*self.ledger, head_office, bytes).await
    }

    /// Waits until nobody else of this process has the turn of this name.
    pub async fn turn(&self, name: &str) -> Turn {
        self.turns.take(name).await
    }

    /// Waits until `bytes` more may come in; gives up after 5 seconds. One head office has at most a
    /// quarter of all room.
    pub async fn reserve(&self, bytes: u64) -> Result<Room, QueueError> {
        self.in_flight.acquire(bytes).await
    }

    /// A place on the disk for a file that is coming in; what is dropped unfinished is gone.
    pub async fn spool(&self) -> io::Result<Spool> {
        Spool::open(self.spool_folder.clone()).await
    }

    /// Says whether a file is what it was declared to be, by its content.
    pub async fn validate(
        &self,
        file: Arc<Spooled>,
        declared: MediaType,
    ) -> Result<Result<(), Unlike>, FilesError> {
        let _turn = self.at_work.acquire(1).await?;
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

/// Runs what waits for a disk, or computes for long, where it holds up nobody.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(lost) => Err(io::Error::other(lost)),
    }
}
