//! Daily limits of mails to one address.
//!
//! The sender of an offer chooses the address, so the limits prevent the flooding of third parties.
//! Mails to a company about its own endpoint are not counted.

use std::num::NonZeroU32;

use chrono::TimeDelta;
use preauth_core::port::NoticeKind;
use preauth_core::value::{Timestamp, calendar};

use super::queue::NoticeClaim;

const ONE_MILLI: TimeDelta = TimeDelta::milliseconds(1);
/// One in four of an address's daily mails is reserved for head offices that have sent it none.
const KEPT_FOR_OTHERS: u64 = 4;

/// The daily limits of offers and invitations, as configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailLimits {
    /// To one mailbox. Default: 20.
    pub per_mailbox: NonZeroU32,
    /// From one head office to one mailbox; mails above it are joined. Default: 5.
    pub per_head_office: NonZeroU32,
    /// Mailboxes that one head office reaches for the first time. Default: 10,000.
    pub new_mailboxes: NonZeroU32,
}

/// The limits on the current day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DailyShare {
    /// The limits.
    pub limits: MailLimits,
    /// The beginning of the day in São Paulo.
    pub begins: Timestamp,
    /// The beginning of the next day.
    pub ends: Timestamp,
}

/// The mails sent today before a mail's turn, and the leased ones that may be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Mails sent to its mailbox.
    pub(crate) sent: u64,
    /// Mails in progress to it.
    pub(crate) under_way: u64,
    /// Of those sent, the ones of its head office.
    pub(crate) sent_by_office: u64,
    /// Of those in progress, the ones of its head office.
    pub(crate) under_way_of_office: u64,
    /// Whether its head office never sent to the mailbox before.
    pub(crate) is_new: bool,
    /// Mailboxes that its head office reached for the first time today.
    pub(crate) new_mailboxes: u64,
}

/// When a mail may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Now; whether it is the last one of its head office to the mailbox today.
    Now { is_last: bool },
    /// Not before this time, because its address has reached its limit.
    At(Timestamp),
}

impl Default for MailLimits {
    fn default() -> Self {
        let number = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        Self {
            per_mailbox: number(20),
            per_head_office: number(5),
            new_mailboxes: number(10_000),
        }
    }
}

impl DailyShare {
    /// The limits on the day of `now`.
    #[must_use]
    pub fn on_the_day_of(now: Timestamp, limits: MailLimits) -> Self {
        let today = calendar::today(now);
        let yesterday = today.pred_opt().unwrap_or(today);
        Self {
            limits,
            begins: calendar::end_of_day(yesterday).saturating_add(ONE_MILLI),
            ends: calendar::end_of_day(today).saturating_add(ONE_MILLI),
        }
    }
}

impl NoticeClaim {
    /// When a mail may be sent, given the mails that were sent today or are in progress.
    pub(crate) fn turn(&self, usage: &Usage) -> Turn {
        let limits = self.share.limits;
        let all = u64::from(limits.per_mailbox.get());
        let of_office = u64::from(limits.per_head_office.get());
        let shared = all.saturating_sub(all.div_euclid(KEPT_FOR_OTHERS));
        let used_by_office = usage
            .sent_by_office
            .saturating_add(usage.under_way_of_office);
        let used = usage.sent.saturating_add(usage.under_way);
        let room = if used_by_office == 0 { all } else { shared };
        let is_one_too_many =
            usage.is_new && usage.new_mailboxes >= u64::from(limits.new_mailboxes.get());
        if usage.sent >= room || usage.sent_by_office >= of_office || is_one_too_many {
            return Turn::At(self.share.ends);
        }
        if used >= room || used_by_office >= of_office {
            // A mail in progress may fail and leave its place to this one.
            return Turn::At(self.now.saturating_add(self.lease));
        }
        Turn::Now {
            is_last: used_by_office.saturating_add(1) >= of_office
                || used.saturating_add(1) >= shared,
        }
    }
}

/// Whether mails of this kind are counted.
pub(crate) const fn is_counted(kind: NoticeKind) -> bool {
    match kind {
        NoticeKind::Offer | NoticeKind::Invitation => true,
        NoticeKind::EndpointPaused => false,
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use preauth_core::value::Timestamp;

    use super::{DailyShare, MailLimits, Turn, Usage};
    use crate::notices::NoticeClaim;

    fn moment(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn claim() -> NoticeClaim {
        let now = moment("2026-11-21T12:00:00Z");
        NoticeClaim {
            now,
            lease: TimeDelta::minutes(2),
            share: DailyShare::on_the_day_of(now, MailLimits::default()),
        }
    }

    /// The turn after these numbers of mails: sent and in progress, in all and of the same head
    /// office.
    fn turn(all: (u64, u64), of_office: (u64, u64)) -> Turn {
        claim().turn(&Usage {
            sent: all.0,
            under_way: all.1,
            sent_by_office: of_office.0,
            under_way_of_office: of_office.1,
            ..Usage::default()
        })
    }

    const NOW: Turn = Turn::Now { is_last: false };
    const LAST: Turn = Turn::Now { is_last: true };

    #[test]
    fn a_day_is_one_of_sao_paulo() {
        for now in ["2026-11-21T03:00:00.000Z", "2026-11-22T02:59:59.999Z"] {
            let share = DailyShare::on_the_day_of(moment(now), MailLimits::default());
            assert_eq!(share.begins, moment("2026-11-21T03:00:00.000Z"));
            assert_eq!(share.ends, moment("2026-11-22T03:00:00.000Z"));
        }
    }

    #[test]
    fn a_head_office_has_five_mails_the_last_of_which_is_known() {
        let (tomorrow, soon) = (
            Turn::At(claim().share.ends),
            Turn::At(claim().now.saturating_add(claim().lease)),
        );
        assert_eq!(turn((0, 0), (0, 0)), NOW);
        assert_eq!(turn((3, 0), (3, 0)), NOW);
        assert_eq!(turn((4, 0), (4, 0)), LAST);
        assert_eq!(turn((2, 2), (2, 2)), LAST);
        assert_eq!(turn((5, 0), (5, 0)), tomorrow);
        assert_eq!(turn((4, 1), (4, 1)), soon);
    }

    #[test]
    fn a_quarter_of_a_mailbox_is_kept_for_head_offices_that_sent_it_none() {
        let (tomorrow, soon) = (
            Turn::At(claim().share.ends),
            Turn::At(claim().now.saturating_add(claim().lease)),
        );
        assert_eq!(turn((13, 0), (1, 0)), NOW);
        assert_eq!(turn((14, 0), (1, 0)), LAST);
        assert_eq!(turn((15, 0), (1, 0)), tomorrow);
        assert_eq!(turn((15, 0), (0, 0)), LAST);
        assert_eq!(turn((19, 0), (0, 0)), LAST);
        assert_eq!(turn((20, 0), (0, 0)), tomorrow);
        assert_eq!(turn((19, 1), (0, 0)), soon);
    }

    #[test]
    fn new_mailboxes_are_bounded_and_known_ones_are_not() {
        let usage = Usage {
            is_new: true,
            new_mailboxes: 10_000,
            ..Usage::default()
        };
        assert_eq!(claim().turn(&usage), Turn::At(claim().share.ends));
        let known = Usage {
            is_new: false,
            ..usage
        };
        assert_eq!(claim().turn(&known), NOW);
    }
}
