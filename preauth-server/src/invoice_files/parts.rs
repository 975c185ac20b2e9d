//! An upload in parts, which is aborted unless it is completed.

use std::sync::Arc;
use std::time::Duration;

use object_store::{MultipartUpload, PutPayload};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::log::chain;

use super::{ContentHash, FilesError, Spooled, blocking};

/// Size of one part of an upload; the minimum of S3, except for the last part.
pub(super) const PART_BYTES: u64 = 5 * 1024 * 1024;
/// Timeout of an abort.
const ABORT_DEADLINE: Duration = Duration::from_secs(10);

/// Aborts an upload when it is dropped: S3-compatible storage keeps the parts of an unfinished one,
/// which cost money. A failure drops it, and so do a deadline and a caller that went away.
struct Unfinished {
    file: ContentHash,
    /// Until it is complete.
    upload: Option<Box<dyn MultipartUpload>>,
}

/// Sends a file by an upload that has just begun.
pub(super) async fn send_parts(
    upload: Box<dyn MultipartUpload>,
    file: &Arc<Spooled>,
) -> Result<(), FilesError> {
    let mut unfinished = Unfinished {
        file: file.hash(),
        upload: None,
    };
    let upload = unfinished.upload.insert(upload);
    let mut offset = 0;
    while offset < file.size() {
        let part = piece(file, offset).await?;
        upload.put_part(part).await?;
        offset = offset.saturating_add(PART_BYTES);
    }
    upload.complete().await?;
    unfinished.upload = None;
    Ok(())
}

/// The part of a file at `offset`.
pub(super) async fn piece(file: &Arc<Spooled>, offset: u64) -> Result<PutPayload, FilesError> {
    let file = Arc::clone(file);
    let bytes = blocking(move || file.piece(offset, PART_BYTES)).await;
    bytes.map(PutPayload::from).map_err(FilesError::Spool)
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let (Some(upload), Ok(runtime)) = (self.upload.take(), Handle::try_current()) else {
            return;
        };
        runtime.spawn(abort(upload, self.file));
    }
}

async fn abort(mut upload: Box<dyn MultipartUpload>, file: ContentHash) {
    let error = match timeout(ABORT_DEADLINE, upload.abort()).await {
        Ok(Ok(())) => return,
        Ok(Err(error)) => chain(&error),
        Err(late) => chain(&late),
    };
    tracing::warn!(target: "files", %file, error, "an unfinished upload was not aborted");
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::Arc;

    use async_trait::async_trait;
    use object_store::{Error, Extensions, MultipartUpload, PutPayload, PutResult, UploadPart};
    use tokio::sync::Notify;
    use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

    use super::super::Spool;
    use super::send_parts;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum End {
        Completes,
        Fails,
        /// At its first part.
        Stalls,
    }

    #[derive(Debug)]
    struct Upload {
        end: End,
        stalled: Arc<Notify>,
        aborts: UnboundedSender<()>,
    }

    #[async_trait]
    impl MultipartUpload for Upload {
        fn put_part(&mut self, _: PutPayload) -> UploadPart {
            if self.end == End::Stalls {
                self.stalled.notify_one();
                return Box::pin(pending());
            }
            Box::pin(ready(Ok(())))
        }

        async fn complete(&mut self) -> Result<PutResult, Error> {
            if self.end == End::Fails {
                return Err(Error::Generic {
                    store: "test",
                    source: "refused".into(),
                });
            }
            Ok(PutResult {
                e_tag: None,
                version: None,
                extensions: Extensions::default(),
            })
        }

        async fn abort(&mut self) -> Result<(), Error> {
            self.aborts.send(()).unwrap();
            Ok(())
        }
    }

    /// Sends a file until it is sent, fails or stalls; returns whether it was sent, and whether the
    /// upload was aborted.
    async fn send(end: End) -> (bool, bool) {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::open(folder.path().to_owned()).await.unwrap();
        spool.write(b"%PDF-1.7").await.unwrap();
        let file = Arc::new(spool.finish().await.unwrap());
        let stalled = Arc::new(Notify::new());
        let (aborts, mut aborted) = unbounded_channel();
        let upload = Box::new(Upload {
            end,
            stalled: Arc::clone(&stalled),
            aborts,
        });
        let is_sent = tokio::select! {
            sent = send_parts(upload, &file) => sent.is_ok(),
            () = stalled.notified() => false,
        };
        (is_sent, aborted.recv().await.is_some())
    }

    #[tokio::test]
    async fn an_upload_is_aborted_unless_it_is_completed() {
        assert_eq!(send(End::Completes).await, (true, false));
        assert_eq!(send(End::Fails).await, (false, true));
        // Its caller's deadline has passed, or the caller has gone away.
        assert_eq!(send(End::Stalls).await, (false, true));
    }
}
