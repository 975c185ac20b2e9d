//! The thread that runs the work of blocking calls.

use std::future::poll_fn;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::mpsc;
use std::task::Poll;

use tokio::runtime::{Builder, Runtime};

use crate::{Error, ErrorKind};

/// A runtime with one thread, which also maintains connections between calls.
#[derive(Debug)]
pub(super) struct Background {
    /// `None` only while this is being dropped.
    runtime: Option<Runtime>,
}

impl Background {
    pub(super) fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("preauth-client")
            .enable_all()
            .build()?;
        Ok(Self {
            runtime: Some(runtime),
        })
    }

    /// Runs the work on the background thread and waits for it here. A thread that already belongs to a
    /// runtime may wait for a channel, but not drive a second runtime.
    pub(super) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Error> {
        let (done, wait) = mpsc::sync_channel(1);
        if let Some(runtime) = &self.runtime {
            runtime.spawn(async move {
                let _ = done.send(work.await);
            });
        }
        // The channel closes without a result only if the work panicked: in the caller's observer or timing.
        wait.recv()
            .map_err(|gone| Error::new(ErrorKind::Transport).caused_by(gone))
    }
}

/// The work panicked: in the caller's observer, timing or cursor store.
#[derive(Debug, thiserror::Error)]
#[error("the work of the call panicked")]
struct Panicked;

/// What the work returns, or an error if it panics. So what it works with is kept.
pub(super) async fn caught<T>(work: impl Future<Output = T>) -> Result<T, Error> {
    let mut work = pin!(work);
    poll_fn(
        |context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(poll) => poll.map(Ok),
            Err(_) => Poll::Ready(Err(Error::new(ErrorKind::Transport).caused_by(Panicked))),
        },
    )
    .await
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // An ordinary drop waits for the thread, and panics inside another runtime.
            runtime.shutdown_background();
        }
    }
}
