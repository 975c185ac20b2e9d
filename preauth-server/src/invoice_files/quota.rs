//! The quota of each head office's files.
//!
//! Files of operations count, and files whose operations this process is about to commit. Each claim
//! counts the earlier ones, so that two concurrent claims do not use the same room; while an
//! earlier claim is open, a claim that would not fit waits. Claims of other instances are not known
//! here: together they may exceed the quota by their uploads in progress.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use preauth_core::value::CompanyId;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::{FileLedger, FilesError};
use crate::fair::QueueError;

/// Maximum time that a claim waits for earlier ones.
const PATIENCE: Duration = Duration::from_secs(5);

/// The quota of each head office, if there is one; clones share the claims.
#[derive(Clone, Debug)]
pub struct FileQuota {
    max_bytes: Option<NonZeroU64>,
    claims: Arc<Claims>,
}

#[derive(Debug, Default)]
struct Claims {
    by_office: Mutex<Offices>,
    /// Notified when a claim has ended.
    ended: Notify,
}

#[derive(Debug, Default)]
struct Offices {
    next: u64,
    /// Bytes by claim, oldest first.
    claimed: HashMap<CompanyId, BTreeMap<u64, u64>>,
}

/// Bytes that will count once their operation is committed; released on drop.
#[derive(Debug)]
pub struct QuotaClaim {
    claims: Arc<Claims>,
    head_office: CompanyId,
    number: u64,
}

impl FileQuota {
    /// No limit.
    #[must_use]
    pub fn none() -> Self {
        Self {
            max_bytes: None,
            claims: Arc::default(),
        }
    }

    /// A quota of this size for each head office.
    #[must_use]
    pub fn of_bytes(max_bytes: NonZeroU64) -> Self {
        Self {
            max_bytes: Some(max_bytes),
            claims: Arc::default(),
        }
    }

    /// The quota in bytes, if there is one.
    pub(super) const fn max_bytes(&self) -> Option<NonZeroU64> {
        self.max_bytes
    }

    pub(super) async fn claim(
        &self,
        ledger: &dyn FileLedger,
        head_office: CompanyId,
        bytes: u64,
    ) -> Result<Option<QuotaClaim>, FilesError> {
        let Some(max_bytes) = self.max_bytes else {
            return Ok(None);
        };
        let deadline = Instant::now().checked_add(PATIENCE);
        let claim = self.claims.add(head_office, bytes);
        loop {
            let mut ended = std::pin::pin!(self.claims.ended.notified());
            ended.as_mut().enable();
            // Before the look-up: a claim that is committed in the meantime counts in at least one
            // of the two.
            let before = claim.claimed_before();
            let named = ledger.named_bytes(head_office).await?;
            let all = named.saturating_add(before).saturating_add(bytes);
            if all <= max_bytes.get() {
                return Ok(Some(claim));
            }
            if before == 0 {
                return Err(FilesError::QuotaExceeded);
            }
            let waited = match deadline {
                Some(deadline) => timeout_at(deadline, ended).await.is_ok(),
                None => false,
            };
            if !waited {
                return Err(QueueError::TimedOut.into());
            }
        }
    }
}

impl Claims {
    fn add(self: &Arc<Self>, head_office: CompanyId, bytes: u64) -> QuotaClaim {
        let mut offices = self.lock();
        let number = offices.next;
        offices.next = number.saturating_add(1);
        let claimed = offices.claimed.entry(head_office).or_default();
        claimed.insert(number, bytes);
        QuotaClaim {
            claims: Arc::clone(self),
            head_office,
            number,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Offices> {
        self.by_office
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl QuotaClaim {
    /// Bytes of this head office's earlier open claims.
    fn claimed_before(&self) -> u64 {
        let offices = self.claims.lock();
        let claimed = offices.claimed.get(&self.head_office);
        let before = claimed.into_iter().flat_map(|it| it.range(..self.number));
        before.fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }
}

impl Drop for QuotaClaim {
    fn drop(&mut self) {
        let mut offices = self.claims.lock();
        if let Some(claimed) = offices.claimed.get_mut(&self.head_office) {
            claimed.remove(&self.number);
            if claimed.is_empty() {
                offices.claimed.remove(&self.head_office);
            }
        }
        drop(offices);
        self.claims.ended.notify_waiters();
    }
}
