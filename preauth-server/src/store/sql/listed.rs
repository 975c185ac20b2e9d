//! A page of a list.

use crate::directory::Page;
use crate::store::rows::Corrupt;
use crate::store::set_aside::SetAside;

use super::session::Row;

/// The rows of one page of a list.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) rows: Vec<Row>,
    pub(super) total: u64,
}

impl Listed {
    /// The readable records of the page; the others are recorded.
    pub(super) fn page<T>(
        &self,
        set_aside: &SetAside,
        read: impl Fn(&Row) -> Result<T, Corrupt>,
    ) -> Page<T> {
        Page {
            items: set_aside.readable(&self.rows, read),
            total: self.total,
        }
    }
}
