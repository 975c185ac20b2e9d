//! Callers who ask for the same kind of thing at the same time are served together.
//!
//! Requests queue up; a task takes whatever is there and serves it as one group. There is no timer:
//! a lone caller waits for nobody. Each caller is answered on its own, and one that goes away takes
//! nothing along, because the request is no longer its own.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::FutureExt;
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::store::queue::QueueError;

/// What is done with a group.
#[async_trait]
pub(super) trait Serve: Send + Sync + 'static {
    /// What is asked for.
    type Request: Send + 'static;
    /// What each caller is answered.
    type Answer: Send + 'static;

    /// Serves all of `requests`, and answers each in its place.
    async fn serve(&self, requests: Vec<Self::Request>) -> Vec<Self::Answer>;
}

/// How much there may be of everything.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Requests that may wait; the next one is refused.
    pub(super) queue: usize,
    /// Requests that one group takes at most.
    pub(super) group: usize,
    /// Groups under way at once.
    pub(super) groups: usize,
}

/// The way to the tasks that serve.
pub(super) struct Grouped<S: Serve> {
    /// None after the end.
    entrance: Mutex<Option<mpsc::Sender<Waiting<S>>>>,
    tasks: AsyncMutex<Vec<JoinHandle<()>>>,
}

/// A request and whoever waits for its answer.
struct Waiting<S: Serve> {
    request: S::Request,
    caller: oneshot::Sender<S::Answer>,
}

impl<S: Serve> Grouped<S> {
    /// Starts the tasks.
    pub(super) fn spawn(server: S, limits: Limits) -> Self {
        let (entrance, queue) = mpsc::channel(limits.queue);
        let queue = Arc::new(AsyncMutex::new(queue));
        let server = Arc::new(server);
        let task = |_| tokio::spawn(work(Arc::clone(&server), Arc::clone(&queue), limits.group));
        Self {
            entrance: Mutex::new(Some(entrance)),
            tasks: AsyncMutex::new((0..limits.groups).map(task).collect()),
        }
    }

    /// Queues `request` and waits for its answer.
    pub(super) async fn ask(&self, request: S::Request) -> Result<S::Answer, QueueError> {
        let (caller, answer) = oneshot::channel();
        self.enter(Waiting { request, caller })?;
        answer.await.map_err(|_| QueueError::Lost)
    }

    /// Takes no more requests, and waits until those that it took are answered.
    pub(super) async fn close(&self) {
        drop(self.entrance().take());
        for task in self.tasks.lock().await.drain(..) {
            // A task that panicked has ended, too.
            let _ = task.await;
        }
    }

    fn enter(&self, waiting: Waiting<S>) -> Result<(), QueueError> {
        let entrance = self.entrance();
        let Some(entrance) = &*entrance else {
            return Err(QueueError::Closed);
        };
        entrance.try_send(waiting).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => QueueError::Full,
            mpsc::error::TrySendError::Closed(_) => QueueError::Closed,
        })
    }

    fn entrance(&self) -> std::sync::MutexGuard<'_, Option<mpsc::Sender<Waiting<S>>>> {
        self.entrance.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves one group after the other until nobody can ask any more and the queue is empty.
async fn work<S: Serve>(
    server: Arc<S>,
    queue: Arc<AsyncMutex<mpsc::Receiver<Waiting<S>>>>,
    limit: usize,
) {
    let mut group = Vec::with_capacity(limit);
    loop {
        if queue.lock().await.recv_many(&mut group, limit).await == 0 {
            return;
        }
        let (requests, callers): (Vec<_>, Vec<_>) = group
            .drain(..)
            .map(|waiting| (waiting.request, waiting.caller))
            .unzip();
        // Should it panic, its callers learn that there is no answer, and the next group is served.
        let served = AssertUnwindSafe(server.serve(requests)).catch_unwind();
        let answers = served.await.unwrap_or_default();
        for (caller, answer) in callers.into_iter().zip(answers) {
            // Nobody may be listening any more.
            let _ = caller.send(answer);
        }
    }
}

impl<S: Serve> std::fmt::Debug for Grouped<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grouped").finish_non_exhaustive()
    }
}
