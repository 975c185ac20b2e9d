//! Observations in the background of a drill.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::JoinHandle;

/// A task that observes until it is ended.
pub(crate) struct Observation<T> {
    is_over: Arc<AtomicBool>,
    task: JoinHandle<T>,
}

impl<T: Send + 'static> Observation<T> {
    /// Starts `observe`, which ends once its flag is set.
    pub(crate) fn begin<F>(observe: impl FnOnce(Arc<AtomicBool>) -> F) -> Self
    where
        F: Future<Output = T> + Send + 'static,
    {
        let is_over = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(observe(Arc::clone(&is_over)));
        Self { is_over, task }
    }

    /// Ends it, and returns its result.
    pub(crate) async fn end(self) -> T {
        self.is_over.store(true, Ordering::Relaxed);
        self.task.await.unwrap()
    }
}
