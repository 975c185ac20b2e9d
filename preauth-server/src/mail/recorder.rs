//! Records the outcomes of mails, those of a moment together: the database's work for a statement is most
//! of what one costs, and each is a sync of the disk.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{sleep, timeout};

/// Maximum time that an outcome waits for others, while mails are in progress whose outcomes may come. A
/// crash within it repeats the mail, as one does before the outcome is recorded.
const GATHERING: Duration = Duration::from_millis(20);
/// Number of outcomes that wait for no more.
const MAX_GATHERED: usize = 16;
/// Maximum number of outcomes that are recorded beside the lanes; with more a lane waits for its own.
const MAX_RECORDINGS: u16 = 64;
/// Time that a lane with nothing else to send waits until the outcome of its mail is recorded. Longer
/// only where another session holds the mail's row, or the database is lost.
const RECORDING: Duration = Duration::from_millis(250);

/// Records outcomes beside the lanes that send.
#[derive(Clone)]
pub(super) struct Recorder {
    gathered: Arc<Mutex<Vec<BoxFuture<'static, ()>>>>,
    places: Arc<Semaphore>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            gathered: Arc::default(),
            places: Arc::new(Semaphore::new(MAX_RECORDINGS.into())),
        }
    }
}

impl Recorder {
    /// Has an outcome recorded, together with others. If none will come soon, it begins at once and waits, but
    /// not for long: a mail whose row is held must not hold its lane.
    pub(super) async fn record(
        &self,
        recording: impl Future<Output = ()> + Send + 'static,
        has_more: bool,
    ) {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return recording.await;
        };
        let (done, is_done) = oneshot::channel();
        let gathered = self.add(Box::pin(async move {
            // The others are recorded after a panic, too.
            let _ = AssertUnwindSafe(recording).catch_unwind().await;
            drop(place);
            let _ = done.send(());
        }));
        if !has_more {
            self.begin();
            let _ = timeout(RECORDING, is_done).await;
        } else if gathered >= MAX_GATHERED {
            self.begin();
        } else if gathered == 1 {
            let recorder = self.clone();
            tokio::spawn(async move {
                sleep(GATHERING).await;
                recorder.begin();
            });
        }
    }

    /// Begins to record the outcomes that have been gathered.
    pub(super) fn begin(&self) {
        let gathered = std::mem::take(&mut *self.gathered());
        if !gathered.is_empty() {
            tokio::spawn(join_all(gathered));
        }
    }

    /// Records what has been gathered, and waits until everything is recorded.
    pub(super) async fn end(&self) {
        self.begin();
        let _ = self.places.acquire_many(MAX_RECORDINGS.into()).await;
    }

    fn add(&self, recording: BoxFuture<'static, ()>) -> usize {
        let mut gathered = self.gathered();
        gathered.push(recording);
        gathered.len()
    }

    fn gathered(&self) -> MutexGuard<'_, Vec<BoxFuture<'static, ()>>> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::BoxFuture;
    use tokio::time::{Duration, Instant, sleep};

    use super::{GATHERING, MAX_GATHERED, Recorder};

    /// Counts recordings, and at how many moments they began.
    #[derive(Clone, Default)]
    struct Book(Arc<std::sync::Mutex<Vec<Instant>>>);

    impl Book {
        fn record(&self) -> BoxFuture<'static, ()> {
            let book = self.clone();
            Box::pin(async move { book.0.lock().unwrap().push(Instant::now()) })
        }

        fn lines(&self) -> Vec<Instant> {
            self.0.lock().unwrap().clone()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn outcomes_are_recorded_together_when_no_more_will_come() {
        let (recorder, book) = (Recorder::default(), Book::default());
        for _ in 0..3 {
            recorder.record(book.record(), true).await;
            sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(book.lines().len(), 0);
        recorder.record(book.record(), false).await;
        let lines = book.lines();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines.first(), lines.last());
    }

    #[tokio::test(start_paused = true)]
    async fn an_outcome_waits_briefly_for_others_and_not_for_more_than_fit() {
        let (recorder, book) = (Recorder::default(), Book::default());
        let began = Instant::now();
        recorder.record(book.record(), true).await;
        sleep(GATHERING.saturating_mul(2)).await;
        assert_eq!(book.lines(), [began + GATHERING]);
        for _ in 0..MAX_GATHERED {
            recorder.record(book.record(), true).await;
        }
        sleep(Duration::from_millis(1)).await;
        assert_eq!(book.lines().len(), 1 + MAX_GATHERED);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_waits_for_what_was_gathered_and_survives_a_panic() {
        let (recorder, ended) = (Recorder::default(), Arc::new(AtomicUsize::new(0)));
        for n in 0..5 {
            let ended = Arc::clone(&ended);
            let recording = async move {
                sleep(Duration::from_secs(1)).await;
                assert!(n > 0);
                ended.fetch_add(1, Ordering::Relaxed);
            };
            recorder.record(recording, true).await;
        }
        recorder.end().await;
        assert_eq!(ended.load(Ordering::Relaxed), 4);
    }
}
