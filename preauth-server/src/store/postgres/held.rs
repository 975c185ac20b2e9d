//! Rows that every instance updates often. Waiting briefly for a lock is faster than skipping the
//! row, unless a transaction holds it for long.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use preauth_core::port::Unavailable;
use preauth_core::value::CompanyId;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use crate::fair::QueueError;
use crate::store::error::Fault;

/// How long a statement for many callers waits for a locked row; other instances' statements are
/// shorter.
pub(super) const LOCK_TIMEOUT: &str = "100ms";
/// How long locked rows are skipped after a statement last timed out.
const LEFT_OUT_FOR: Duration = Duration::from_secs(1);
/// How long mass changes skip a head office after they met a locked row of it: short beside the time in
/// which an expiry must be recorded.
const OFFICE_LEFT_OUT_FOR: Duration = Duration::from_secs(2);
/// How long the caller that needs a locked row retries.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// Mass changes skip a head office if less than one of so many of its rows were free: instances that change the
/// same rows in step lock each other's as well, but each its share.
const ONE_FREE_OF: usize = 10;
const FIRST_PAUSE: Duration = Duration::from_millis(25);
const MAX_PAUSE: Duration = Duration::from_millis(400);

/// Whether locked rows are waited for, or skipped so that they delay no other caller.
#[derive(Debug, Default)]
pub(super) struct HeldRows(Mutex<Option<Instant>>);

impl HeldRows {
    pub(super) fn are_left_out(&self) -> bool {
        self.lock().is_some_and(|met| met.elapsed() < LEFT_OUT_FOR)
    }

    /// Records that a statement met a locked row.
    pub(super) fn note(&self) {
        *self.lock() = Some(Instant::now());
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Head offices with rows that were locked when a mass change needed them. The next mass changes skip
/// these head offices, so that they do not delay all others.
#[derive(Debug, Default)]
pub(super) struct HeldOffices(Mutex<HashMap<CompanyId, Instant>>);

impl HeldOffices {
    /// Records which rows of a mass change were locked, each by its head office.
    pub(super) fn note(&self, rows: impl Iterator<Item = (CompanyId, bool)>) {
        let mut counts: HashMap<CompanyId, (usize, usize)> = HashMap::new();
        for (head_office, is_locked) in rows {
            let (free, all) = counts.entry(head_office).or_default();
            *free = free.saturating_add(usize::from(!is_locked));
            *all = all.saturating_add(1);
        }
        counts.retain(|_, (free, all)| free.saturating_mul(ONE_FREE_OF) < *all);
        let mut offices = self.lock();
        offices.extend(counts.into_keys().map(|office| (office, Instant::now())));
    }

    /// The head offices that are skipped now.
    pub(super) fn present(&self) -> Vec<Uuid> {
        let mut offices = self.lock();
        offices.retain(|_, met| met.elapsed() < OFFICE_LEFT_OUT_FOR);
        offices.keys().map(|office| *office.as_uuid()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<CompanyId, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The outcome of recording an attempt at a delivery or a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recorded {
    Done,
    /// The lease is no longer the newest; nothing was recorded.
    LeaseLost,
    /// A row that it needs is locked by others; nothing was recorded.
    Held,
}

/// Records an attempt by `record`, again and again until no row that it needs is locked by others; returns
/// whether its lease was still the newest.
pub(super) async fn until_free<F>(record: impl Fn() -> F + Send) -> Result<bool, Unavailable>
where
    F: Future<Output = Result<Result<Recorded, Unavailable>, QueueError>> + Send,
{
    let mut turns = Turns::begin();
    loop {
        match record().await.map_err(Fault::from)?? {
            Recorded::Done => return Ok(true),
            Recorded::LeaseLost => return Ok(false),
            Recorded::Held if turns.next().await => {}
            Recorded::Held => return Err(Fault::StillLocked.into()),
        }
    }
}

/// The retries of a caller whose row is locked, or of a group whose table is, with pauses between.
pub(super) struct Turns {
    began: Instant,
    pause: Duration,
}

impl Turns {
    pub(super) fn begin() -> Self {
        Self {
            began: Instant::now(),
            pause: FIRST_PAUSE,
        }
    }

    /// Whether the time for retries is over.
    pub(super) fn are_over(&self) -> bool {
        self.began.elapsed() >= MAX_WAIT
    }

    /// Waits until the next retry; returns `false` immediately when the time is over.
    pub(super) async fn next(&mut self) -> bool {
        if self.are_over() {
            return false;
        }
        sleep(self.pause).await;
        self.pause = self.pause.saturating_mul(2).min(MAX_PAUSE);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::iter::repeat_n;

    use preauth_core::value::CompanyId;
    use uuid::Uuid;

    use super::HeldOffices;

    /// The head offices that are skipped after a change of one with so many free and locked rows.
    fn skipped(free: usize, locked: usize) -> usize {
        let office = CompanyId::new(Uuid::from_u128(1));
        let offices = HeldOffices::default();
        offices.note(repeat_n((office, false), free).chain(repeat_n((office, true), locked)));
        offices.present().len()
    }

    #[test]
    fn a_head_office_is_skipped_while_hardly_any_of_its_rows_is_free() {
        assert_eq!(skipped(0, 1), 1);
        assert_eq!(skipped(0, 2000), 1);
        assert_eq!(skipped(100, 1900), 1);
    }

    #[test]
    fn instances_that_change_the_same_rows_in_step_skip_nothing() {
        for instances in 1..=10 {
            let share = 2000 / instances;
            assert_eq!(skipped(share, 2000 - share), 0, "{instances}");
        }
    }
}
