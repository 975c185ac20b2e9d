//! Where a reader of events keeps its place.

use std::error::Error as StdError;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

/// The outcome of a [`CursorStore`]'s work.
pub type CursorResult<'s, T> =
    Pin<Box<dyn Future<Output = Result<T, Box<dyn StdError + Send + Sync>>> + Send + 's>>;

/// Keeps the cursor of one reader of events, from one run of the program to the next.
///
/// Implement it over the database in which the effects of events are recorded, or use a
/// [`FileCursor`](crate::FileCursor). Once `save` has returned, `load` returns that cursor, also after a
/// power failure; when it fails, `load` may return the cursor before. Two readers need two stores.
///
/// ```
/// use preauth_client::{CursorResult, CursorStore};
///
/// /// In a settings table of the ERP.
/// struct InSettings;
///
/// impl CursorStore for InSettings {
///     fn load(&self) -> CursorResult<'_, Option<String>> {
///         Box::pin(async { Ok(None) }) // SELECT value FROM settings WHERE name = 'preauth cursor'
///     }
///     fn save(&self, cursor: String) -> CursorResult<'_, ()> {
///         Box::pin(async move { let _ = cursor; Ok(()) })
///     }
/// }
/// ```
pub trait CursorStore: Send + Sync {
    /// The saved cursor; `None` if there is none.
    fn load(&self) -> CursorResult<'_, Option<String>>;

    /// Saves a cursor in place of the one before.
    fn save(&self, cursor: String) -> CursorResult<'_, ()>;
}

/// A cursor in memory, for tests, and for programs that begin at the oldest event each time. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct MemoryCursor(Arc<Mutex<Option<String>>>);

impl MemoryCursor {
    /// No cursor: begins at the oldest event that is kept.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins after this cursor.
    #[must_use]
    pub fn at(cursor: impl Into<String>) -> Self {
        Self(Arc::new(Mutex::new(Some(cursor.into()))))
    }

    /// The cursor that was saved last.
    #[must_use]
    pub fn get(&self) -> Option<String> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CursorStore for MemoryCursor {
    fn load(&self) -> CursorResult<'_, Option<String>> {
        Box::pin(async { Ok(self.get()) })
    }

    fn save(&self, cursor: String) -> CursorResult<'_, ()> {
        Box::pin(async move {
            *self.lock() = Some(cursor);
            Ok(())
        })
    }
}

impl<S: CursorStore + ?Sized> CursorStore for Arc<S> {
    fn load(&self) -> CursorResult<'_, Option<String>> {
        (**self).load()
    }

    fn save(&self, cursor: String) -> CursorResult<'_, ()> {
        (**self).save(cursor)
    }
}
