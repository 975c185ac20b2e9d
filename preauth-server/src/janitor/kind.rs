//! The kinds of records that the janitor cleans up, and what a batch of some of them did.

use preauth_core::port::Unavailable;

use crate::invoice_files::SWEEP_BATCH;

use super::{ACTIVITY_BATCH, BATCH, COUNTS_BATCH};

/// The kinds of records that the janitor cleans up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Endpoints,
    /// Deliveries and mails that a clock which was ahead put off.
    PutOff,
    /// Endpoints that began to fail, or recovered.
    Failing,
    Replies,
    RateWindows,
    Deliveries,
    Mails,
    /// Mails that became files, without a record.
    MailFiles,
    /// Invoice files of operations that ended long ago.
    OldFiles,
    /// By which events are read on request.
    EventNumbers,
    Counts,
    Files,
    Sessions,
    /// What reports show.
    Activity,
}

impl Kind {
    pub(super) const ALL: [Self; 14] = [
        Self::Endpoints,
        Self::PutOff,
        Self::Failing,
        Self::Replies,
        Self::RateWindows,
        Self::Deliveries,
        Self::Mails,
        Self::MailFiles,
        // Before the files that nothing names.
        Self::OldFiles,
        Self::EventNumbers,
        Self::Counts,
        Self::Files,
        Self::Sessions,
        Self::Activity,
    ];

    /// Whether somebody waits for it: deliveries and mails that become due, a company's mail.
    pub(super) const fn is_awaited(self) -> bool {
        matches!(self, Self::Endpoints | Self::PutOff | Self::Failing)
    }

    /// The number of records from which on a batch may have left some.
    pub(super) fn whole_batch(self) -> u64 {
        u64::from(match self {
            // One endpoint at a time, however few deliveries it has.
            Self::Endpoints => 1,
            // The walk says itself whether it is at its end.
            Self::OldFiles | Self::MailFiles => u32::MAX,
            Self::Counts => COUNTS_BATCH,
            Self::Activity => ACTIVITY_BATCH,
            Self::Files => SWEEP_BATCH,
            Self::PutOff
            | Self::Failing
            | Self::Replies
            | Self::RateWindows
            | Self::Deliveries
            | Self::Mails
            | Self::EventNumbers
            | Self::Sessions => BATCH,
        })
    }
}

/// The result of a batch of some kinds.
#[derive(Debug, Default)]
pub(super) struct Cleaned {
    pub(super) done: u64,
    /// Those of them that were put off.
    pub(super) brought: u64,
    /// The kinds that may have more.
    pub(super) unfinished: Vec<Kind>,
    /// Of the first kind that failed.
    pub(super) failure: Option<Unavailable>,
}

impl Cleaned {
    pub(super) fn note(&mut self, kind: Kind, batch: Result<u64, Unavailable>) {
        match batch {
            Ok(done) => {
                self.done = self.done.saturating_add(done);
                if kind == Kind::PutOff {
                    self.brought = self.brought.saturating_add(done);
                }
                if done >= kind.whole_batch() {
                    self.unfinished.push(kind);
                }
            }
            Err(failure) => {
                self.failure.get_or_insert(failure);
            }
        }
    }
}
