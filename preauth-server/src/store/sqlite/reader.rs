//! A reading connection, with its place in the budget.

use std::ops::{Deref, DerefMut};

use sqlx::SqliteConnection;

use crate::fair::Room;

/// A connection, or a transaction on one. It is returned before its place is given to another.
pub(super) struct Reader<C> {
    connection: C,
    _room: Room,
}

impl<C> Reader<C> {
    pub(super) const fn new(connection: C, room: Room) -> Self {
        Self {
            connection,
            _room: room,
        }
    }
}

impl<C: Deref<Target = SqliteConnection>> Deref for Reader<C> {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.connection
    }
}

impl<C: DerefMut<Target = SqliteConnection>> DerefMut for Reader<C> {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }
}
