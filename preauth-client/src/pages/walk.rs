//! Walks down a list that changes during the walk. Nothing is sent here.
//!
//! A list contains the matching operations by descending id; a window is one page of it, with its own
//! limit. The rule that makes the walk complete: **an answer counts only if it begins at the top of the
//! list or with an entry whose id is not below the last one returned.** Everything above that entry has
//! then been returned, or arrived later; everything below it follows within the same answer, which is a
//! snapshot of one moment. Windows therefore overlap by one entry. If entries above have left, so that an
//! answer begins below the last one, the walk goes back up until an answer satisfies the rule again. If
//! so many entries have arrived that an answer contains no new entry, the walk jumps down. Both distances
//! double, so that either way takes few answers.

use preauth_core::value::OperationId;
use preauth_core::wire::{PreAuthorization, PreAuthorizationList};

/// Maximum number of consecutive answers without a new entry. Going back takes a few; more mean that the
/// service ignores the requested page.
const MAX_FRUITLESS: u32 = 64;

/// The state of a walk.
#[derive(Debug)]
pub(super) struct Walk {
    /// Maximum number of entries of one window.
    most: u32,
    window: Window,
    /// The last entry that was returned.
    last: Option<OperationId>,
    /// Distance of the next move back, in entries.
    back: u64,
    /// Distance of the next jump down, in entries.
    leap: u64,
    fruitless: u32,
    is_over: bool,
}

/// One page of a list, with its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) page: u64,
    pub(super) limit: u32,
}

/// Why a walk cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum WalkError {
    #[error("the ids of the list do not descend")]
    Unordered,
    #[error("the pages of the list do not go on")]
    Standing,
}

impl Walk {
    pub(super) fn new(most: u32) -> Self {
        Self {
            most,
            window: Window {
                page: 1,
                limit: most,
            },
            last: None,
            back: u64::from(most),
            leap: 0,
            fruitless: 0,
            is_over: false,
        }
    }

    /// The window to request next.
    pub(super) const fn window(&self) -> Window {
        self.window
    }

    /// Whether the end of the list has been reached.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Processes the answer to [`window`](Self::window) and returns the entries that come next.
    pub(super) fn take(
        &mut self,
        list: PreAuthorizationList,
    ) -> Result<Vec<PreAuthorization>, WalkError> {
        let PreAuthorizationList {
            data, pagination, ..
        } = list;
        if !data.is_sorted_by(|newer, older| newer.id > older.id) {
            return Err(WalkError::Unordered);
        }
        let limit = u64::from(pagination.limit);
        let offset = pagination.page.saturating_sub(1).saturating_mul(limit);
        if offset > 0 && !self.knows(data.first()) {
            self.go_to(offset.saturating_sub(self.back));
            self.back = self.back.saturating_mul(2);
            self.leap = 0;
            return self.counted(Vec::new());
        }
        let length = u64::try_from(data.len()).unwrap_or(u64::MAX);
        self.is_over = length < limit;
        let fresh: Vec<_> = data
            .into_iter()
            .filter(|entry| self.last.is_none_or(|last| entry.id < last))
            .collect();
        let last_index = offset.saturating_add(length).saturating_sub(1);
        let most = u64::from(self.most);
        self.back = most;
        if fresh.is_empty() {
            self.go_to(last_index.saturating_add(self.leap));
            self.leap = self.leap.saturating_mul(2).max(most);
        } else {
            self.go_to(last_index);
            self.leap = 0;
        }
        self.counted(fresh)
    }

    /// Whether everything above `first` was returned already, or arrived later.
    fn knows(&self, first: Option<&PreAuthorization>) -> bool {
        first.is_some_and(|first| self.last.is_some_and(|last| first.id >= last))
    }

    /// Of the windows that contain the entry at `index` (from 0), chooses the one that reaches farthest
    /// down.
    fn go_to(&mut self, index: u64) {
        let window = |limit: u32| {
            let above = index.checked_div(u64::from(limit)).unwrap_or(0);
            let page = above.saturating_add(1);
            let end = page.saturating_mul(u64::from(limit));
            (end, Window { page, limit })
        };
        let farthest = (1..=self.most).map(window).max_by_key(|(end, _)| *end);
        if let Some((_, window)) = farthest {
            self.window = window;
        }
    }

    fn counted(
        &mut self,
        fresh: Vec<PreAuthorization>,
    ) -> Result<Vec<PreAuthorization>, WalkError> {
        if let Some(last) = fresh.last() {
            self.last = Some(last.id);
            self.fruitless = 0;
            return Ok(fresh);
        }
        self.fruitless = self.fruitless.saturating_add(1);
        if self.fruitless > MAX_FRUITLESS && !self.is_over {
            return Err(WalkError::Standing);
        }
        Ok(fresh)
    }
}
