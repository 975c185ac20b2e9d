//! Reads and checks everything that a host has.

use chrono::TimeDelta;

use crate::port::{
    Archive, BodyDecoder, FileBytes, Holder, Miscount, Read, Record, SealMark, StoredEvent,
    StoredSeal, Subject, Unavailable, Unreadable, UnsealedRow,
};
use crate::value::Timestamp;

use super::checker::{Checker, Findings, Moment};
use super::listing::Lists;
use super::mail::ShareCount;
use super::{Rule, Violation};

/// Time after which a running server has sealed each row of the audit log, on a busy database, too.
const SEALING_PATIENCE: TimeDelta = TimeDelta::minutes(2);
/// Records per page: their events and attempts are in memory together.
const PAGE: u32 = 500;

/// Receives the progress of an audit.
pub trait Watch: Send {
    /// A violation was found.
    fn found(&mut self, violation: Violation);

    /// Another page was checked.
    fn progressed(&mut self, totals: &Totals);
}

/// The numbers of records checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Operations.
    pub operations: u64,
    /// Payment orders.
    pub orders: u64,
    /// Events, including those of neither an operation nor a payment order.
    pub events: u64,
    /// Deliveries.
    pub deliveries: u64,
    /// Attempts.
    pub attempts: u64,
    /// Idempotency replies.
    pub replies: u64,
    /// Mails.
    pub mails: u64,
    /// Seals of the audit log.
    pub seals: u64,
    /// Events in the lists of head offices, one for each list.
    pub listed: u64,
    /// Violations found.
    pub violations: u64,
}

/// Checks everything in `archive`, during concurrent writes; fails only when the archive cannot be read at
/// all.
///
/// Memory does not grow with the archive: each page is dropped after its check.
pub async fn audit(
    archive: &dyn Archive,
    decoder: &dyn BodyDecoder,
    moment: Moment,
    watch: &mut dyn Watch,
) -> Result<Totals, Unavailable> {
    audit_with_seals(archive, decoder, moment, &[], watch).await
}

/// The same, and checks that the chain over the audit log has these seals, which were kept elsewhere.
///
/// Whoever can write to the archive can remove the newest rows with their seals, or compute a whole new
/// chain. Only a seal that was kept elsewhere shows that.
pub async fn audit_with_seals(
    archive: &dyn Archive,
    decoder: &dyn BodyDecoder,
    moment: Moment,
    kept: &[SealMark],
    watch: &mut dyn Watch,
) -> Result<Totals, Unavailable> {
    let mut pages = archive.pages().await?;
    let mut page = pages.next(PAGE).await?;
    let mut walk = Walk {
        checker: Checker::new(decoder, moment, page.host_now),
        totals: Totals::default(),
        last_holder: None,
        last_seal: 0,
        kept: kept.to_vec(),
        share: ShareCount::default(),
        lists: Lists::default(),
        latest: moment.now,
        watch,
    };
    while !page.records.is_empty() {
        walk.checker = Checker::new(decoder, moment, page.host_now);
        // The last invoice of the previous page may have another holder by now.
        walk.last_holder = None;
        for read in page.records {
            let violations = walk.checked(read);
            walk.found(violations);
        }
        walk.watch.progressed(&walk.totals);
        page = pages.next(PAGE).await?;
    }
    let missing = walk.kept.iter().map(missing).collect();
    walk.found(missing);
    Ok(walk.totals)
}

struct Walk<'a> {
    checker: Checker<'a>,
    totals: Totals,
    last_holder: Option<Holder>,
    last_seal: i64,
    /// Seals that were kept elsewhere and have not come yet.
    kept: Vec<SealMark>,
    share: ShareCount,
    lists: Lists,
    /// The latest time seen: that of the audit, or that of the newest event so far.
    latest: Timestamp,
    watch: &'a mut dyn Watch,
}

impl Walk<'_> {
    fn checked(&mut self, read: Read<Record>) -> Vec<Violation> {
        let record = match read {
            Ok(record) => record,
            Err(unreadable) => return vec![unreadable.into()],
        };
        match record {
            Record::Operation(stored) => {
                count(&mut self.totals.operations, 1);
                self.count_events(&stored.events);
                self.checker.operation(&stored)
            }
            Record::Order(stored) => {
                count(&mut self.totals.orders, 1);
                self.count_events(&stored.events);
                self.checker.order(&stored)
            }
            Record::Other(stored) => {
                self.count_events(std::slice::from_ref(&stored.event));
                self.checker.other_event(&stored)
            }
            Record::Reply(stored) => {
                count(&mut self.totals.replies, 1);
                self.checker.reply(&stored)
            }
            Record::Holder(next) => {
                let last = self.last_holder.replace(next.clone());
                let beside = |last: Holder| self.checker.holders(&last, &next);
                last.map(beside).unwrap_or_default()
            }
            Record::MisplacedEvent(event) => vec![Violation {
                rule: Rule::OwnParties,
                subject: Subject::Event(event),
                what: "it stands under another head office than what it reports".to_owned(),
            }],
            Record::Orphan(subject, missing) => vec![Violation {
                rule: Rule::References,
                subject,
                what: format!("its {missing} does not exist"),
            }],
            Record::Mail(stored) => {
                count(&mut self.totals.mails, 1);
                self.checker.mail(&stored)
            }
            Record::Sent(sent) => self.share.count(&sent, &self.checker),
            Record::OfferWithoutMail(offer) => self.checker.offer_without_mail(offer, self.latest),
            Record::Miscount(miscount) => vec![miscount.into()],
            Record::FileBytes(found) => vec![found.into()],
            Record::Seal(seal) => {
                count(&mut self.totals.seals, 1);
                let expected = self.last_seal.saturating_add(1);
                self.last_seal = seal.mark.number;
                let mut found = sealed(seal, expected);
                let kept = |it: &mut SealMark| it.number == seal.mark.number;
                let others = self.kept.extract_if(.., kept).filter(|it| *it != seal.mark);
                found.extend(others.map(|it| differs(it, seal.mark)));
                found
            }
            Record::Unsealed(row) => self.checker.unsealed(row),
            Record::Listed(listed) => {
                count(&mut self.totals.listed, 1);
                self.lists.listed(&listed)
            }
            Record::ListEnd(end) => self.lists.ended(&end),
            Record::Unlisted(unlisted) => vec![unlisted.into()],
            Record::MissingNumbers(missing) => vec![missing.into()],
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

/// Checks a seal, whose number is to be `expected`.
fn sealed(seal: StoredSeal, expected: i64) -> Vec<Violation> {
    let mut found = Findings::of(Subject::Seal(seal.mark.number));
    found.expect(seal.mark.number == expected, Rule::SealedLog, || {
        format!("seal {expected} is missing before it")
    });
    found.expect(seal.is_whole, Rule::SealedLog, || {
        "its hash is not that of its rows and of the seal before it".to_owned()
    });
    found.violations
}

fn differs(kept: SealMark, stored: SealMark) -> Violation {
    Violation {
        rule: Rule::SealedLog,
        subject: Subject::Seal(kept.number),
        what: format!("it is {stored} and was {kept}: the rows up to it were written anew"),
    }
}

fn missing(kept: &SealMark) -> Violation {
    Violation {
        rule: Rule::SealedLog,
        subject: Subject::Seal(kept.number),
        what: format!("it was {kept} and is missing: the newest rows were removed"),
    }
}

impl Checker<'_> {
    /// Checks the oldest row of the audit log without a seal.
    fn unsealed(&self, row: UnsealedRow) -> Vec<Violation> {
        let mut found = Findings::of(Subject::AuditRow(row.id));
        let is_left =
            self.moment.is_live && row.at < self.moment.now.saturating_sub(SEALING_PATIENCE);
        found.expect(!is_left, Rule::SealedLog, || {
            format!("it was written at {}, and has no seal", row.at)
        });
        found.violations
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

impl From<FileBytes> for Violation {
    fn from(found: FileBytes) -> Self {
        let FileBytes {
            head_office,
            counted,
            there,
        } = found;
        Self {
            rule: Rule::FileBytes,
            subject: Subject::Payer(head_office),
            what: format!("{counted} bytes of invoice files are counted, and there are {there}"),
        }
    }
}

fn count(total: &mut u64, more: usize) {
    *total = total.saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::num::NonZeroU32;

    use async_trait::async_trait;
    use uuid::Uuid;

    use super::{Totals, Watch, audit};
    use crate::audit::{Moment, Rule, Violation};
    use crate::port::{
        Archive, BodyDecoder, DecodedEvent, DecodedReply, Holder, Page, Pages, Record, Unavailable,
    };
    use crate::value::{Cnpj, CompanyId, OperationId, Timestamp};

    /// Nothing that is looked at here has a body.
    struct NoBodies;

    impl BodyDecoder for NoBodies {
        fn event(&self, _body: &str) -> Option<DecodedEvent> {
            None
        }

        fn reply(&self, _body: &str) -> Option<DecodedReply> {
            None
        }
    }

    struct Holders(Vec<Vec<i64>>);

    struct Left(VecDeque<Vec<i64>>);

    #[async_trait]
    impl Archive for Holders {
        async fn pages(&self) -> Result<Box<dyn Pages>, Unavailable> {
            Ok(Box::new(Left(self.0.clone().into())))
        }
    }

    #[async_trait]
    impl Pages for Left {
        async fn next(&mut self, _limit: u32) -> Result<Page, Unavailable> {
            let page = self.0.pop_front().unwrap_or_default();
            Ok(Page {
                host_now: now(),
                records: page.into_iter().map(|it| Ok(holder(it))).collect(),
            })
        }
    }

    #[derive(Default)]
    struct Found(Vec<Rule>);

    impl Watch for Found {
        fn found(&mut self, violation: Violation) {
            self.0.push(violation.rule);
        }

        fn progressed(&mut self, _totals: &Totals) {}
    }

    fn now() -> Timestamp {
        Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap()
    }

    /// An operation that holds the one invoice there is.
    fn holder(operation: i64) -> Record {
        Record::Holder(Holder {
            head_office: CompanyId::new(Uuid::from_u128(1)),
            supplier: Cnpj::parse("11444777000161").unwrap(),
            number: "NF-1".to_owned(),
            operation: OperationId::new(operation).unwrap(),
        })
    }

    async fn found(pages: &[&[i64]]) -> Vec<Rule> {
        let pages = pages.iter().map(|page| page.to_vec()).collect();
        let moment = Moment {
            now: now(),
            is_live: true,
            daily_share: NonZeroU32::MIN,
            mails_kept: None,
        };
        let mut found = Found::default();
        let checked = audit(&Holders(pages), &NoBodies, moment, &mut found).await;
        checked.unwrap();
        found.0
    }

    #[tokio::test]
    async fn an_invoice_may_pass_to_another_operation_between_two_pages() {
        assert_eq!(found(&[&[1], &[2]]).await, []);
    }

    #[tokio::test]
    async fn two_holders_of_an_invoice_at_one_moment_are_found() {
        assert_eq!(found(&[&[1, 2]]).await, [Rule::OneHolder]);
        assert_eq!(found(&[&[1], &[1, 2]]).await, [Rule::OneHolder]);
    }
}
