//! Processes similar requests of concurrent callers together.
//!
//! Requests are queued; a task takes those that are waiting, tenants in turn, and processes them as
//! one group. There is no timer: a single caller is not delayed. Each caller gets its own answer,
//! and a request that has begun is finished even if its caller goes away.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt;
use tokio::sync::{Mutex, oneshot};
use tokio::task::JoinHandle;

use crate::fair::{self, QueueError, Queued, Receiver, Refusals, Sender};

/// Processes a group.
#[async_trait]
pub(super) trait Serve: Send + Sync + 'static {
    /// A caller's request.
    type Request: Send + 'static;
    /// A caller's answer.
    type Answer: Send + 'static;

    /// Processes all of `requests`, and returns the answers in their order.
    async fn serve(&self, requests: Vec<Self::Request>) -> Vec<Self::Answer>;
}

/// The limits of a queue and its groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Maximum number of tenants' waiting requests, and of the service's own.
    pub(super) queue: usize,
    /// Maximum number of requests per group.
    pub(super) group: usize,
    /// Maximum number of concurrent groups.
    pub(super) groups: u32,
}

/// The queue of the processing tasks.
pub(super) struct Grouped<S: Serve> {
    queue: Sender<Waiting<S>>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

/// A request and the channel for its answer.
struct Waiting<S: Serve> {
    request: S::Request,
    caller: oneshot::Sender<Result<S::Answer, QueueError>>,
}

impl<S: Serve> Queued for Waiting<S> {
    fn is_abandoned(&self) -> bool {
        self.caller.is_closed()
    }

    fn refuse(self, reason: QueueError) {
        let _ = self.caller.send(Err(reason));
    }
}

impl<S: Serve> Grouped<S> {
    /// Starts the tasks.
    pub(super) fn spawn(server: S, limits: Limits) -> Self {
        let (queue, waiting) = fair::channel(limits.queue, limits.group);
        let (server, waiting) = (Arc::new(server), Arc::new(waiting));
        let task = |_| {
            let (server, waiting) = (Arc::clone(&server), Arc::clone(&waiting));
            tokio::spawn(work(server, waiting, limits.group))
        };
        Self {
            queue,
            tasks: Mutex::new((0..limits.groups).map(task).collect()),
        }
    }

    /// Queues `request` and waits for its answer.
    pub(super) async fn ask(&self, request: S::Request) -> Result<S::Answer, QueueError> {
        let (caller, answer) = oneshot::channel();
        let answer = self.queue.ask(Waiting { request, caller }, answer);
        answer.await?.unwrap_or(Err(QueueError::Lost))
    }

    /// The number of refused requests so far.
    pub(super) fn refusals(&self) -> Refusals {
        self.queue.refusals()
    }

    /// Accepts no more requests, and waits until the accepted ones are answered.
    pub(super) async fn close(&self) {
        self.queue.close();
        for task in self.tasks.lock().await.drain(..) {
            // A task that panicked has ended as well.
            let _ = task.await;
        }
    }
}

/// Processes one group after the other until the queue is closed and empty.
async fn work<S: Serve>(server: Arc<S>, waiting: Arc<Receiver<Waiting<S>>>, limit: usize) {
    loop {
        let group = waiting.take(limit).await;
        if group.is_empty() {
            return;
        }
        let (requests, callers): (Vec<_>, Vec<_>) = group
            .into_iter()
            .map(|waiting| (waiting.request, waiting.caller))
            .unzip();
        // After a panic the group's callers get an error, and the next group is processed.
        let serving = AssertUnwindSafe(server.serve(requests)).catch_unwind();
        let answers = serving.await.unwrap_or_default();
        for (caller, answer) in callers.into_iter().zip(answers) {
            // The caller may have gone away.
            let _ = caller.send(Ok(answer));
        }
        // Where each answer is there when it is asked for, a task would go on through the whole backlog, before its callers
        // and the other groups of its thread.
        tokio::task::yield_now().await;
    }
}

impl<S: Serve> std::fmt::Debug for Grouped<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grouped").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use async_trait::async_trait;
    use tokio::sync::{Semaphore, oneshot};
    use tokio::task::JoinHandle;

    use preauth_core::value::CompanyId;
    use uuid::Uuid;

    use super::{Grouped, Limits, QueueError, Serve};
    use crate::fair::{Tenant, charged_to};

    const LIMITS: Limits = Limits {
        queue: 4,
        group: 3,
        groups: 1,
    };

    /// Answers each number with its double, one group when it is allowed to, and panics at a zero.
    struct Doubling {
        may_go_on: Arc<Semaphore>,
        groups: Arc<Mutex<Vec<usize>>>,
    }

    #[async_trait]
    impl Serve for Doubling {
        type Request = u32;
        type Answer = u32;

        async fn serve(&self, requests: Vec<u32>) -> Vec<u32> {
            self.may_go_on.acquire().await.unwrap().forget();
            self.groups.lock().unwrap().push(requests.len());
            assert!(!requests.contains(&0));
            requests
                .into_iter()
                .map(|it| it.saturating_mul(2))
                .collect()
        }
    }

    fn head_office(number: u128) -> Tenant {
        Tenant::HeadOffice(CompanyId::new(Uuid::from_u128(number)))
    }

    struct World {
        grouped: Arc<Grouped<Doubling>>,
        may_go_on: Arc<Semaphore>,
        groups: Arc<Mutex<Vec<usize>>>,
    }

    impl World {
        fn new() -> Self {
            Self::of(LIMITS)
        }

        fn of(limits: Limits) -> Self {
            let may_go_on = Arc::new(Semaphore::new(0));
            let groups = Arc::default();
            let server = Doubling {
                may_go_on: Arc::clone(&may_go_on),
                groups: Arc::clone(&groups),
            };
            Self {
                grouped: Arc::new(Grouped::spawn(server, limits)),
                may_go_on,
                groups,
            }
        }

        /// Sends a request, and yields until it is queued.
        async fn ask(&self, number: u32) -> JoinHandle<Result<u32, QueueError>> {
            self.ask_as(Tenant::Service, number).await
        }

        async fn ask_as(&self, tenant: Tenant, number: u32) -> JoinHandle<Result<u32, QueueError>> {
            let grouped = Arc::clone(&self.grouped);
            let asks = charged_to(tenant, async move { grouped.ask(number).await });
            let asked = tokio::spawn(asks);
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            asked
        }

        fn groups(&self) -> Vec<usize> {
            self.groups.lock().unwrap().clone()
        }
    }

    #[tokio::test]
    async fn callers_that_wait_at_the_same_time_are_served_together() {
        let world = World::new();
        let mut asked = Vec::new();
        for number in 1..=5 {
            asked.push(world.ask(number).await);
        }
        world.may_go_on.add_permits(3);
        let mut answers = Vec::new();
        for it in asked {
            answers.push(it.await.unwrap().unwrap());
        }
        assert_eq!(answers, [2, 4, 6, 8, 10]);
        // The first request did not wait, and no group exceeds the maximum.
        assert_eq!(world.groups(), [1, 3, 1]);
    }

    #[tokio::test]
    async fn a_caller_goes_on_before_the_next_group_begins() {
        let world = World::new();
        let mut asked = Vec::new();
        for number in 1..=4 {
            asked.push(world.ask(number).await);
        }
        world.may_go_on.add_permits(2);
        assert!(matches!(asked.remove(0).await.unwrap(), Ok(2)));
        assert_eq!(world.groups(), [1]);
        for it in asked {
            assert!(it.await.unwrap().is_ok());
        }
        assert_eq!(world.groups(), [1, 3]);
    }

    #[tokio::test]
    async fn more_than_may_wait_are_refused() {
        let world = World::new();
        let mut asked = Vec::new();
        for number in 1..=6 {
            asked.push(world.ask(number).await);
        }
        let last = asked.pop().unwrap().await.unwrap();
        assert!(matches!(last, Err(QueueError::Full)));
        world.may_go_on.add_permits(3);
        for it in asked {
            assert!(it.await.unwrap().is_ok());
        }
    }

    #[tokio::test]
    async fn a_tenant_that_fills_the_queue_makes_room_for_another() {
        let world = World::new();
        let mut flood = Vec::new();
        for number in 1..=5 {
            flood.push(world.ask_as(head_office(1), number).await);
        }
        let quiet = world.ask_as(head_office(2), 50).await;
        let newest = flood.pop().unwrap().await.unwrap();
        assert!(matches!(newest, Err(QueueError::Full)));
        world.may_go_on.add_permits(2);
        assert!(matches!(quiet.await.unwrap(), Ok(100)));
        world.may_go_on.add_permits(1);
        for it in flood {
            assert!(it.await.unwrap().is_ok());
        }
    }

    #[tokio::test]
    async fn a_panic_fails_its_own_group_alone() {
        let world = World::new();
        world.may_go_on.add_permits(2);
        let broken = world.ask(0).await.await.unwrap();
        assert!(matches!(broken, Err(QueueError::Lost)));
        assert!(matches!(world.ask(7).await.await.unwrap(), Ok(14)));
    }

    #[tokio::test]
    async fn a_cancelled_caller_does_not_cancel_others() {
        let world = World::new();
        let (gone, stays) = (world.ask(1).await, world.ask(2).await);
        gone.abort();
        world.may_go_on.add_permits(2);
        assert!(matches!(stays.await.unwrap(), Ok(4)));
        assert_eq!(world.groups(), [1, 1]);
    }

    #[tokio::test]
    async fn the_end_waits_for_what_was_taken_and_takes_no_more() {
        let world = World::new();
        let asked = world.ask(1).await;
        let (ended, mut end) = oneshot::channel();
        let grouped = Arc::clone(&world.grouped);
        tokio::spawn(async move {
            grouped.close().await;
            ended.send(()).unwrap();
        });
        let late = world.ask(2).await;
        assert!(matches!(late.await.unwrap(), Err(QueueError::Closed)));
        assert!(end.try_recv().is_err());
        world.may_go_on.add_permits(1);
        assert!(matches!(asked.await.unwrap(), Ok(2)));
        end.await.unwrap();
    }

    #[tokio::test]
    async fn two_groups_are_served_at_a_time_and_the_end_waits_for_both() {
        let world = World::of(Limits {
            groups: 2,
            ..LIMITS
        });
        let mut asked = Vec::new();
        for number in 1..=5 {
            asked.push(world.ask(number).await);
        }
        let (ended, mut end) = oneshot::channel();
        let grouped = Arc::clone(&world.grouped);
        tokio::spawn(async move {
            grouped.close().await;
            ended.send(()).unwrap();
        });
        let late = world.ask(6).await;
        assert!(matches!(late.await.unwrap(), Err(QueueError::Closed)));
        world.may_go_on.add_permits(1);
        assert!(matches!(asked.remove(0).await.unwrap(), Ok(2)));
        assert!(end.try_recv().is_err());
        world.may_go_on.add_permits(2);
        let mut answers = Vec::new();
        for it in asked {
            answers.push(it.await.unwrap().unwrap());
        }
        assert_eq!(answers, [4, 6, 8, 10]);
        end.await.unwrap();
        // Each of the first two found a group of its own to begin.
        let mut groups = world.groups();
        groups.sort_unstable();
        assert_eq!(groups, [1, 1, 3]);
    }
}
