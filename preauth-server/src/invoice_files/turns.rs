//! Turns by name: for each name one at a time, in this process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;

type Queue = tokio::sync::Mutex<()>;

/// The current turns, by name.
#[derive(Debug, Default)]
pub(super) struct Turns(Arc<Mutex<HashMap<String, Weak<Queue>>>>);

/// A turn, which ends on drop.
#[derive(Debug)]
pub struct Turn {
    name: String,
    queues: Arc<Mutex<HashMap<String, Weak<Queue>>>>,
    /// Taken when the turn ends.
    guard: Option<OwnedMutexGuard<()>>,
}

impl Turns {
    pub(super) async fn take(&self, name: &str) -> Turn {
        let queue = {
            let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let existing = queues.get(name).and_then(Weak::upgrade);
            existing.unwrap_or_else(|| {
                let queue = Arc::<Queue>::default();
                queues.insert(name.to_owned(), Arc::downgrade(&queue));
                queue
            })
        };
        Turn {
            name: name.to_owned(),
            queues: Arc::clone(&self.0),
            guard: Some(queue.lock_owned().await),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.guard.take());
        if queues
            .get(&self.name)
            .is_some_and(|queue| queue.strong_count() == 0)
        {
            queues.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::Turns;

    #[tokio::test]
    async fn one_has_the_turn_of_a_name_and_nothing_is_left_of_it() {
        let turns = Turns::default();
        let first = turns.take("a").await;
        assert!(turns.take("b").now_or_never().is_some());
        let mut second = Box::pin(turns.take("a"));
        assert!(futures_util::poll!(&mut second).is_pending());
        drop(first);
        drop(second.await);
        // A caller that stopped waiting.
        let third = turns.take("a").await;
        assert!(turns.take("a").now_or_never().is_none());
        drop(third);
        assert!(turns.0.lock().unwrap().is_empty());
    }
}
