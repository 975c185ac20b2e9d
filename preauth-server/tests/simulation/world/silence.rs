//! Dispatchers that do nothing while the service of their instance goes on: others deliver what its
//! commits leased, once the leases end.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use preauth_server::dispatcher::Dispatcher;
use preauth_server::worker::Shutdown;

use crate::clock::sleep_ms;
use crate::history::Fact;
use crate::store::Database;

/// When a dispatcher ends at the latest.
const MAX_LIFE_MS: u64 = 10_000;

/// What becomes of a dispatcher while its service goes on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Silence {
    Never,
    /// It takes what commits hand over, and does nothing until it is asked to stop.
    Mute,
    /// It ends after some milliseconds, as by a panic.
    EndsAfter(u64),
}

impl Silence {
    /// Draws for an instance that starts.
    pub(super) fn drawn(database: &Database) -> Self {
        let faults = &database.faults;
        let rate = faults.mix().silences;
        if rate == 0 || !faults.hits(rate) {
            return Self::Never;
        }
        faults.draw(|random| {
            if random.chance(500) {
                Self::Mute
            } else {
                Self::EndsAfter(random.between(1, MAX_LIFE_MS))
            }
        })
    }

    /// Runs the dispatcher of an instance, and sets `is_silent` when it does nothing any more.
    pub(super) async fn run(
        self,
        number: usize,
        dispatcher: Dispatcher,
        mut until: Shutdown,
        database: Arc<Database>,
        is_silent: Arc<AtomicBool>,
    ) {
        let fall_silent = |fact| {
            is_silent.store(true, Ordering::Relaxed);
            database.chronicle.note(fact);
        };
        match self {
            Self::Never => dispatcher.run(until).await,
            Self::Mute => {
                fall_silent(Fact::Muted(number));
                until.requested().await;
                dispatcher.run(until).await;
            }
            Self::EndsAfter(ms) => {
                let ends = async {
                    sleep_ms(ms).await;
                    if database.faults.are_over() {
                        pending::<()>().await;
                    }
                };
                tokio::select! {
                    biased;
                    () = dispatcher.run(until) => {}
                    () = ends => fall_silent(Fact::DispatcherEnded(number)),
                }
            }
        }
    }
}
