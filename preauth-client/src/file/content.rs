//! The sources of a file's bytes.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;

use super::{InvoiceFile, check_size};
use crate::{Error, ErrorKind};

#[derive(Clone)]
pub(super) enum Content {
    Bytes(Bytes),
    Path(PathBuf),
    Stream(SharedStream),
}

/// Content that is ready to be sent.
pub(super) enum Loaded {
    Bytes(Bytes),
    Stream(SharedStream),
}

impl Content {
    /// Reads a file from disk, so that all attempts send the same bytes even if the file changes.
    pub(super) async fn load(&self) -> Result<Loaded, Error> {
        let path = match self {
            Self::Bytes(bytes) => return Ok(Loaded::Bytes(bytes.clone())),
            Self::Stream(stream) => return Ok(Loaded::Stream(stream.clone())),
            Self::Path(path) => path.clone(),
        };
        let read = tokio::task::spawn_blocking(move || read(&path)).await;
        let bytes = read.unwrap_or_else(|failed| Err(io::Error::other(failed)));
        let unreadable = |cause| Error::new(ErrorKind::File).caused_by(cause);
        Ok(Loaded::Bytes(bytes.map_err(unreadable)?.into()))
    }
}

/// Reads a whole file, up to the maximum size of an invoice file.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    check_size(size).map_err(io::Error::other)?;
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    // The file may have grown since, or may not be a regular file, which has no size in its metadata.
    let limit = InvoiceFile::MAX_BYTES.saturating_add(1);
    let found = file.take(limit).read_to_end(&mut bytes)?;
    check_size(u64::try_from(found).unwrap_or(u64::MAX)).map_err(io::Error::other)?;
    Ok(bytes)
}

type BoxedStream = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// A stream that the first attempt to send from it consumes.
#[derive(Clone)]
pub(super) struct SharedStream(Arc<Mutex<Option<BoxedStream>>>);

impl SharedStream {
    pub(super) fn new<S, B>(stream: S) -> Self
    where
        S: Stream<Item = io::Result<B>> + Send + 'static,
        B: Into<Bytes>,
    {
        let stream: BoxedStream = Box::pin(IntoBytes(Box::pin(stream)));
        Self(Arc::new(Mutex::new(Some(stream))))
    }

    /// Whether no attempt has taken the stream yet.
    pub(super) fn is_there(&self) -> bool {
        self.lock().is_some()
    }

    pub(super) fn take(&self) -> Option<BoxedStream> {
        self.lock().take()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<BoxedStream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Converts any chunk type to `Bytes`.
struct IntoBytes<S>(Pin<Box<S>>);

impl<S, B> Stream for IntoBytes<S>
where
    S: Stream<Item = io::Result<B>>,
    B: Into<Bytes>,
{
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.0.as_mut().poll_next(context);
        next.map(|chunk| chunk.map(|chunk| chunk.map(Into::into)))
    }
}
