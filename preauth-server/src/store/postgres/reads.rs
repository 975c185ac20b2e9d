//! Combines the reads of many callers into one statement.

use async_trait::async_trait;
use preauth_core::port::Unavailable;

use crate::store::error::{Fault, unavailable_to_all};

use super::connections::Connections;
use super::held::Turns;
use super::session::{self, Run};
use crate::store::grouping::{Limits, Serve};

/// Maximum number of waiting reads, and of those per statement. The next group fills while one is
/// in progress.
pub(super) const LIMITS: Limits = Limits {
    queue: 2048,
    group: 128,
    groups: 1,
};

/// The same for operations by their ids. Old ones may have to be read from disk: others are read meanwhile, and few wait for
/// them.
pub(super) const LIMITS_OF_OPERATIONS: Limits = Limits {
    group: 32,
    groups: 3,
    ..LIMITS
};

/// Reads the answers to all requests of a group, in their order. An unreadable one is an error for
/// its own caller alone.
pub(super) type RunAll<I, T> = Run<Vec<I>, Vec<Result<T, Fault>>, Fault>;

/// A read for many callers together.
pub(super) struct SharedRead<I: 'static, T: 'static> {
    connections: Connections,
    run: RunAll<I, T>,
}

impl<I, T> SharedRead<I, T> {
    pub(super) const fn new(connections: Connections, run: RunAll<I, T>) -> Self {
        Self { connections, run }
    }
}

#[async_trait]
impl<I, T> Serve for SharedRead<I, T>
where
    I: Send + Sync,
    T: Send,
{
    type Request = I;
    type Answer = Result<T, Unavailable>;

    async fn serve(&self, requests: Vec<I>) -> Vec<Self::Answer> {
        let mut turns = Turns::begin();
        loop {
            match session::read(&self.connections, &requests, self.run).await {
                Ok(answers) => {
                    let answers = answers.into_iter();
                    return answers.map(|it| it.map_err(Unavailable::from)).collect();
                }
                // A whole table: reads lock no rows.
                Err(fault) if fault.is_locked() && turns.next().await => {}
                Err(fault) => return unavailable_to_all(requests.len(), fault),
            }
        }
    }
}
