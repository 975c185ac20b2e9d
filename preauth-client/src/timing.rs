//! Clock, sleep and randomness of the client.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Clock, sleep and randomness of the client.
///
/// The default is the runtime's clock and the system's randomness.
/// [`ClientBuilder::timing`](crate::ClientBuilder::timing) replaces them, so that a test can observe and
/// skip every wait.
///
/// ```
/// use std::pin::Pin;
/// use std::sync::Mutex;
/// use std::time::Duration;
/// use preauth_client::Timing;
///
/// /// A clock that advances only by `sleep`, and jitter that is always half.
/// #[derive(Debug, Default)]
/// struct Skipped(Mutex<Duration>);
///
/// impl Timing for Skipped {
///     fn now(&self) -> Duration {
///         *self.0.lock().unwrap()
///     }
///
///     fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
///         *self.0.lock().unwrap() += time;
///         Box::pin(std::future::ready(()))
///     }
///
///     fn random(&self) -> u64 {
///         u64::MAX / 2
///     }
/// }
/// ```
pub trait Timing: fmt::Debug + Send + Sync + 'static {
    /// The time since a fixed moment.
    fn now(&self) -> Duration;

    /// Waits for `time`.
    fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// A uniformly distributed 64-bit number: 0 gives the minimum wait, `u64::MAX` the maximum.
    fn random(&self) -> u64;
}

/// A test keeps a clone, to inspect the waits.
impl<T: Timing + ?Sized> Timing for Arc<T> {
    fn now(&self) -> Duration {
        T::now(self)
    }

    fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        T::sleep(self, time)
    }

    fn random(&self) -> u64 {
        T::random(self)
    }
}

/// The clock of the runtime and the randomness of the operating system.
#[derive(Debug)]
pub(crate) struct SystemTiming {
    began: Instant,
}

impl SystemTiming {
    pub(crate) fn new() -> Self {
        Self {
            began: Instant::now(),
        }
    }
}

impl Timing for SystemTiming {
    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(sleep(time))
    }

    fn random(&self) -> u64 {
        // Without randomness, wait the full time.
        getrandom::u64().unwrap_or(u64::MAX)
    }
}
