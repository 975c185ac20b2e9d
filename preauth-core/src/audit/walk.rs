//! The way through everything that a host has.

use crate::port::{
    Archive, Holder, Miscount, Read, ReadBack, Record, StoredEvent, Subject, Unavailable,
    Unreadable,
};
use crate::value::Timestamp;

use super::judge::{Judge, Moment};
use super::notice::ShareCount;
use super::{Rule, Violation};

/// Records read at once: their events and attempts are in memory together.
const PAGE: u32 = 500;

/// Hears of an audit while it goes on.
pub trait Watch: Send {
    /// A rule does not hold.
    fn found(&mut self, violation: Violation);

    /// Another page was judged.
    fn progressed(&mut self, totals: &Totals);
}

/// How much was judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Operations.
    pub operations: u64,
    /// Payment orders.
    pub orders: u64,
    /// Events, those of neither included.
    pub events: u64,
    /// Deliveries.
    pub deliveries: u64,
    /// Attempts.
    pub attempts: u64,
    /// Idempotency replies.
    pub replies: u64,
    /// Mails.
    pub notices: u64,
    /// Rules that do not hold, once for each record.
    pub violations: u64,
}

/// Judges everything in `archive` as of one moment; fails only when it cannot be read at all.
///
/// Memory does not grow with the archive: a page is judged and forgotten.
pub async fn audit(
    archive: &dyn Archive,
    read_back: &dyn ReadBack,
    moment: Moment,
    watch: &mut dyn Watch,
) -> Result<Totals, Unavailable> {
    let mut snapshot = archive.snapshot().await?;
    let mut walk = Walk {
        judge: Judge::new(read_back, moment, snapshot.host_now()),
        totals: Totals::default(),
        last_holder: None,
        share: ShareCount::default(),
        latest: moment.now,
        watch,
    };
    loop {
        let page = snapshot.next(PAGE).await?;
        if page.is_empty() {
            return Ok(walk.totals);
        }
        for read in page {
            let violations = walk.judged(read);
            walk.found(violations);
        }
        walk.watch.progressed(&walk.totals);
    }
}

struct Walk<'a> {
    judge: Judge<'a>,
    totals: Totals,
    last_holder: Option<Holder>,
    share: ShareCount,
    /// The latest moment at which anything happened.
    latest: Timestamp,
    watch: &'a mut dyn Watch,
}

impl Walk<'_> {
    fn judged(&mut self, read: Read<Record>) -> Vec<Violation> {
        let record = match read {
            Ok(record) => record,
            Err(unreadable) => return vec![unreadable.into()],
        };
        match record {
            Record::Operation(stored) => {
                count(&mut self.totals.operations, 1);
                self.count_events(&stored.events);
                self.judge.operation(&stored)
            }
            Record::Order(stored) => {
                count(&mut self.totals.orders, 1);
                self.count_events(&stored.events);
                self.judge.order(&stored)
            }
            Record::Other(stored) => {
                self.count_events(std::slice::from_ref(&stored.event));
                self.judge.other_event(&stored)
            }
            Record::Reply(stored) => {
                count(&mut self.totals.replies, 1);
                self.judge.reply(&stored)
            }
            Record::Holder(next) => {
                let last = self.last_holder.replace(next.clone());
                let beside = |last: Holder| self.judge.holders(&last, &next);
                last.map(beside).unwrap_or_default()
            }
            Record::Stray(event) => vec![Violation {
                rule: Rule::OwnParties,
                subject: Subject::Event(event),
                what: "it stands under another head office than what it tells of".to_owned(),
            }],
            Record::Notice(stored) => {
                count(&mut self.totals.notices, 1);
                self.judge.notice(&stored)
            }
            Record::Sent(sent) => self.share.count(&sent, &self.judge),
            Record::Untold(offer) => self.judge.untold(offer, self.latest),
            Record::Miscount(miscount) => vec![miscount.into()],
        }
    }

    fn found(&mut self, violations: Vec<Violation>) {
        count(&mut self.totals.violations, violations.len());
        for violation in violations {
            self.watch.found(violation);
        }
    }

    fn count_events(&mut self, events: &[StoredEvent]) {
        count(&mut self.totals.events, events.len());
        for event in events {
            self.latest = self.latest.max(event.at);
            count(&mut self.totals.deliveries, event.deliveries.len());
            for delivery in &event.deliveries {
                count(&mut self.totals.attempts, delivery.attempts.len());
            }
        }
    }
}

impl From<Unreadable> for Violation {
    fn from(unreadable: Unreadable) -> Self {
        Self {
            rule: Rule::Readable,
            subject: unreadable.subject,
            what: unreadable.what,
        }
    }
}

impl From<Miscount> for Violation {
    fn from(miscount: Miscount) -> Self {
        let Miscount {
            payer,
            status,
            counted,
            there,
        } = miscount;
        Self {
            rule: Rule::CountsOfLists,
            subject: Subject::Payer(payer),
            what: format!(
                "{counted} are said to be {}, and {there} are",
                status.as_str()
            ),
        }
    }
}

fn count(total: &mut u64, more: usize) {
    *total = total.saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
}
