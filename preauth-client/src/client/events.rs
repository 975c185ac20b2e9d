//! Reading events on request.

use std::sync::Arc;

use super::Client;
use crate::{CursorStore, Events};

impl Client {
    /// The events of the key's company, oldest first, from where `store` says that a reader stopped; without a cursor
    /// there, from the oldest that is kept. No request is sent before the first event is asked for.
    /// [`GET /api/integration/v1/events`](https://example.com/preauth/blob/main/docs/reference.md#get-apiintegrationv1events).
    ///
    /// See [`Events`] for its guarantees.
    #[must_use = "nothing is read before it is asked for"]
    pub fn events(&self, store: impl CursorStore + 'static) -> Events {
        Events::new(self.clone(), Arc::new(store))
    }
}
