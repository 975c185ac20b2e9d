//! Reading all pages.

use super::Client;
use crate::{ListFilter, Operations};

impl Client {
    /// All operations that match the filter, most recent first. Pages are requested as they are needed;
    /// no request is sent before the first operation is asked for.
    ///
    /// See [`Operations`] for its guarantees while other programs create and change operations.
    #[must_use = "nothing is read before it is asked for"]
    pub fn list_all(&self, filter: &ListFilter) -> Operations {
        Operations::new(self.clone(), filter.clone())
    }
}
