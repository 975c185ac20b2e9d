//! Reading all pages.

use super::Client;
use crate::{ListFilter, Operations};

impl Client {
    /// All operations that the filter lets pass, page after page as they are asked for, most recent
    /// first; no request is sent before the first one.
    ///
    /// See [`Operations`] for what it promises while others create and change operations.
    #[must_use = "nothing is read before it is asked for"]
    pub fn list_all(&self, filter: &ListFilter) -> Operations {
        Operations::new(self.clone(), filter.clone())
    }
}
