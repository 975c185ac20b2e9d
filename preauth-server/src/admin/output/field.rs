//! A value of an answer: its title, and the function that reads it.

use super::cell::Cell;
use crate::language::Text;

/// One value of a record, or one column of a table.
pub(in crate::admin) struct Field<T> {
    pub(super) title: Text,
    pub(super) cell: fn(&T) -> Cell,
}

impl<T> Field<T> {
    pub(in crate::admin) const fn new(title: Text, cell: fn(&T) -> Cell) -> Self {
        Self { title, cell }
    }
}
