//! Sequences of numbers.

/// Numbers from 1, each assigned once.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    last: i64,
    /// The number that a standby has received, unless a record has a higher one.
    logged: i64,
}

impl Sequence {
    pub(super) fn next(&mut self) -> i64 {
        self.last = self.last.saturating_add(1);
        self.last
    }

    /// Continues `skipped` numbers after the newest one that a standby has received.
    pub(super) fn forget_reserved(&mut self, newest: Option<i64>, skipped: i64) {
        let known = newest.unwrap_or(0).max(self.logged);
        self.logged = known.saturating_add(skipped);
        self.last = self.logged;
    }
}
