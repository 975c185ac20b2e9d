//! Where waiting, time and chance come from.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// What the client waits by and draws from: the runtime's clock and the system's randomness, unless
/// [`ClientBuilder::timing`](crate::ClientBuilder::timing) puts something else in their place, which
/// lets a test see every wait and skip it.
///
/// ```
/// use std::pin::Pin;
/// use std::sync::Mutex;
/// use std::time::Duration;
/// use preauth_client::Timing;
///
/// /// Time that passes only by being waited for, and jitter that is always half.
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
    /// The time since some moment that stays the same.
    fn now(&self) -> Duration;

    /// Waits for so long.
    fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// Any number of 64 bits, each as likely as the others; a wait is its share of the longest wait.
    fn random(&self) -> u64;
}

/// A test keeps one half, to look at what was waited for.
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
        // Without randomness the longest wait is the careful one.
        getrandom::u64().unwrap_or(u64::MAX)
    }
}
