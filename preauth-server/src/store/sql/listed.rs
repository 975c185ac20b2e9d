//! A page of a list.

use crate::directory::Page;
use crate::store::rows::Corrupt;
use crate::store::set_aside::SetAside;

use super::newest::Counted;
use super::session::Row;

/// The rows of one page of a list.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) rows: Vec<Row>,
    counted: Counted,
}

impl Listed {
    /// A page of a list that has every entry.
    pub(super) const fn whole(rows: Vec<Row>, total: u64) -> Self {
        Self::counted(rows, Counted::whole(total))
    }

    pub(super) const fn counted(rows: Vec<Row>, counted: Counted) -> Self {
        Self { rows, counted }
    }

    pub(super) const fn total(&self) -> u64 {
        self.counted.total
    }

    /// The readable records of the page; the others are recorded.
    pub(super) fn page<T>(
        &self,
        set_aside: &SetAside,
        read: impl Fn(&Row) -> Result<T, Corrupt>,
    ) -> Page<T> {
        self.counted.page(set_aside.readable(&self.rows, read))
    }
}
