//! Numbers that are given out in order.

/// Numbers from 1, each given out once.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    last: i64,
    /// What a standby knows of it, if no record has a number above that.
    logged: i64,
}

impl Sequence {
    pub(super) fn next(&mut self) -> i64 {
        self.last = self.last.saturating_add(1);
        self.last
    }

    /// Goes on `skipped` after the newest number that a standby knows of.
    pub(super) fn forget_reserved(&mut self, newest: Option<i64>, skipped: i64) {
        let known = newest.unwrap_or(0).max(self.logged);
        self.logged = known.saturating_add(skipped);
        self.last = self.logged;
    }
}
