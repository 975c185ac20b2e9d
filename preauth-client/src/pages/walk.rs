//! The way down a list that others change meanwhile. Nothing is sent here.
//!
//! A list shows, by id descending, the operations that match; a window of it is a page of some limit.
//! The rule that makes the walk whole: **an answer counts only if it begins at the top of the list or with
//! an entry whose id is not below the last one given out.** Everything above that entry has then been
//! given out, or arrived later; everything below it follows within the same answer, which shows one moment.
//! So windows overlap by an entry. When entries above have left, so that an answer begins below the last one,
//! the walk goes back up until it meets something that it knows; when so many have arrived that an answer
//! holds nothing else, it leaps down. Both strides double, so that either way takes few answers.

use preauth_core::value::OperationId;
use preauth_core::wire::{PreAuthorization, PreAuthorizationList};

/// The most answers in a row that give out nothing. Going back takes a few; more are a service that
/// ignores the page it is asked for.
const MAX_FRUITLESS: u32 = 64;

/// How far the walk has come.
#[derive(Debug)]
pub(super) struct Walk {
    /// The most entries of one window.
    most: u32,
    window: Window,
    /// The last entry that was given out.
    last: Option<OperationId>,
    /// How far to go back the next time.
    back: u64,
    /// How far to leap the next time.
    leap: u64,
    fruitless: u32,
    is_over: bool,
}

/// A page of some limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) page: u64,
    pub(super) limit: u32,
}

/// Why a walk cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Astray {
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

    /// What to ask for next.
    pub(super) const fn window(&self) -> Window {
        self.window
    }

    /// Whether the end of the list has been given out.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Takes the answer to [`window`](Self::window), and gives the entries that come next.
    pub(super) fn take(
        &mut self,
        list: PreAuthorizationList,
    ) -> Result<Vec<PreAuthorization>, Astray> {
        let PreAuthorizationList {
            data, pagination, ..
        } = list;
        if !data.is_sorted_by(|newer, older| newer.id > older.id) {
            return Err(Astray::Unordered);
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

    /// Whether everything above an entry was given out, or arrived later.
    fn knows(&self, first: Option<&PreAuthorization>) -> bool {
        first.is_some_and(|first| self.last.is_some_and(|last| first.id >= last))
    }

    /// Chooses the window that holds the entry with `index` entries above it, and reaches farthest down.
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

    fn counted(&mut self, fresh: Vec<PreAuthorization>) -> Result<Vec<PreAuthorization>, Astray> {
        if let Some(last) = fresh.last() {
            self.last = Some(last.id);
            self.fruitless = 0;
            return Ok(fresh);
        }
        self.fruitless = self.fruitless.saturating_add(1);
        if self.fruitless > MAX_FRUITLESS && !self.is_over {
            return Err(Astray::Standing);
        }
        Ok(fresh)
    }
}
