//! The thread that does the work of blocking calls.

use std::io;
use std::sync::mpsc;

use tokio::runtime::{Builder, Runtime};

use crate::{Error, ErrorKind};

/// A runtime of one thread, which also looks after connections between calls.
#[derive(Debug)]
pub(super) struct Background {
    /// Taken when this is dropped.
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

    /// Has the work done there, and waits for it here: a thread that already belongs to a runtime may
    /// wait for a channel, but not drive a second runtime.
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
        // Nobody answers only when the work panicked, which is the caller's own observer or timing.
        wait.recv()
            .map_err(|gone| Error::new(ErrorKind::Transport).caused_by(gone))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // An ordinary drop waits for the thread, and panics inside of another runtime.
            runtime.shutdown_background();
        }
    }
}
