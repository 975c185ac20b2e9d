//! Clients that send one request after the other, each on a connection of its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::connection::{Connection, micros, now};
use crate::scene::Scene;
use crate::statistics::percentile;

/// Invoice numbers are unique over all rounds and cases.
static INVOICES: AtomicU64 = AtomicU64::new(1);
/// The clients' threads need little stack.
pub(crate) const STACK_BYTES: usize = 128 * 1024;
const SECOND_US: u64 = 1_000_000;

/// The answers of a run.
pub(crate) struct Done {
    /// How long each took, in microseconds, sorted.
    took: Vec<u64>,
    /// When each came, in microseconds since the beginning, sorted.
    came: Vec<u64>,
    elapsed: u64,
}

impl Done {
    /// Of answers that took so long and came then, in microseconds.
    pub(crate) fn of(answers: Vec<(u64, u64)>, elapsed: u64) -> Self {
        let (mut took, mut came): (Vec<u64>, Vec<u64>) = answers.into_iter().unzip();
        took.sort_unstable();
        came.sort_unstable();
        Self {
            took,
            came,
            elapsed,
        }
    }

    pub(crate) fn count(&self) -> u64 {
        u64::try_from(self.took.len()).unwrap()
    }

    /// Answers per second.
    pub(crate) fn rate(&self) -> u64 {
        self.count() * SECOND_US / self.elapsed
    }

    /// Answers in each whole second.
    pub(crate) fn each_second(&self) -> Vec<u64> {
        let mut counts = vec![0; usize::try_from(self.elapsed / SECOND_US).unwrap()];
        for came in &self.came {
            let second = usize::try_from(came / SECOND_US).unwrap();
            if let Some(count) = counts.get_mut(second) {
                *count += 1;
            }
        }
        counts
    }

    pub(crate) fn percentile(&self, percent: usize) -> u64 {
        percentile(&self.took, percent)
    }

    /// The longest time in which no answer came, in milliseconds.
    pub(crate) fn longest_stall_ms(&self) -> u64 {
        let pauses = self.came.windows(2).map(|pair| match pair {
            [before, after] => after - before,
            _ => 0,
        });
        pauses.max().unwrap_or_default() / 1000
    }
}

/// An invoice number that no other client uses.
pub(crate) fn next_invoice() -> u64 {
    INVOICES.fetch_add(1, Ordering::Relaxed)
}

/// Lets `clients` clients send creates until `time` is over, with one mail address for all.
pub(crate) fn creates(scene: &Scene, clients: usize, time: Duration) -> Done {
    run(scene, clients, time, "201", &|| {
        scene.payer.create(next_invoice(), 0)
    })
}

/// Lets `clients` clients send requests until `time` is over; all answers must have the status.
pub(crate) fn run(
    scene: &Scene,
    clients: usize,
    time: Duration,
    status: &str,
    request: &(impl Fn() -> String + Sync),
) -> Done {
    repeat(scene, clients, time, &|connection| {
        let (took, _) = connection.send(&request(), status);
        Some(took)
    })
}

/// Lets `clients` clients do `exchange` until `time` is over; what it returns is how long an answer took that counts.
pub(crate) fn repeat(
    scene: &Scene,
    clients: usize,
    time: Duration,
    exchange: &(impl Fn(&mut Connection) -> Option<u64> + Sync),
) -> Done {
    let begun = now();
    let client = |address: &str| {
        let mut connection = Connection::to(address);
        let mut answers = Vec::new();
        while begun.elapsed() < time {
            let took = exchange(&mut connection);
            answers.extend(took.map(|took| (took, micros(begun))));
        }
        answers
    };
    let answers: Vec<(u64, u64)> = thread::scope(|scope| {
        let running: Vec<_> = (0..clients)
            .map(|number| {
                let thread = thread::Builder::new().stack_size(STACK_BYTES);
                let address = scene.address(number);
                thread.spawn_scoped(scope, move || client(address)).unwrap()
            })
            .collect();
        let answers = running.into_iter().map(|it| it.join().unwrap());
        answers.flatten().collect()
    });
    Done::of(answers, micros(begun))
}
