//! Settings that may change while they are used.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// A setting that is read anew each time; clones share it.
pub struct Live<T>(Arc<RwLock<T>>);

impl<T: Clone> Live<T> {
    /// A setting with this value.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self(Arc::new(RwLock::new(value)))
    }

    /// Its value at this moment.
    #[must_use]
    pub fn get(&self) -> T {
        let value = self.0.read().unwrap_or_else(PoisonError::into_inner);
        value.clone()
    }

    /// Changes it for everybody who reads it from now on.
    pub fn set(&self, value: T) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = value;
    }
}

impl<T> Clone for Live<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Clone + fmt::Debug> fmt::Debug for Live<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Live").field(&self.get()).finish()
    }
}
