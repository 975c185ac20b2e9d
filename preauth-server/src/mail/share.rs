//! Daily limits of mails to one address.
//!
//! The sender of an offer chooses the address, so the limits prevent the flooding of third parties.
//! Mails to a company about its own endpoint are not counted.

use std::num::NonZeroU32;

use chrono::TimeDelta;
use preauth_core::port::MailKind;
use preauth_core::value::{Email, Timestamp, calendar};

const ONE_MILLI: TimeDelta = TimeDelta::milliseconds(1);
/// One in four of an address's daily mails is reserved for head offices that have sent it none.
const KEPT_FOR_OTHERS: u64 = 4;
const HOUR_MILLIS: i64 = 3_600_000;
/// Whole hours before an offer's end at which its mail may exceed its head office's limit by one.
const LAST_CALLS: u64 = 3;
/// Mails to one mailbox beyond its limit, of offers that close before the next day.
pub(crate) const LAST_CALLS_PER_MAILBOX: u32 = 5;

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

/// Parameters of a claim.
#[derive(Clone, Copy, Debug)]
pub struct MailClaim {
    /// The current time of the service's clock.
    pub now: Timestamp,
    /// Duration of the lease, by the database's clock.
    pub lease: TimeDelta,
    /// Maximum number of mails.
    pub limit: u32,
    /// The daily limits of an address.
    pub share: DailyShare,
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

impl MailClaim {
    /// When a mail may be sent, given the mails that were sent today or are in progress, and the end
    /// of its offer.
    ///
    /// A mail above a limit waits for the next day. An offer that closes before it would lose its
    /// mail, so its mail waits for the last hours before that end, and may then exceed the limit,
    /// including all others that wait.
    pub(crate) fn turn(&self, usage: &Usage, offer_ends: Option<Timestamp>) -> Turn {
        let limits = self.share.limits;
        let last_calls = offer_ends
            .filter(|ends| *ends < self.share.ends)
            .map_or_else(Vec::new, last_calls);
        let passed = last_calls.iter().filter(|at| **at <= self.now).count();
        let beyond = u64::try_from(passed).unwrap_or(LAST_CALLS);
        let mailbox_beyond = if beyond == 0 {
            0
        } else {
            LAST_CALLS_PER_MAILBOX
        };

        let per_mailbox = u64::from(limits.per_mailbox.get());
        let all = per_mailbox.saturating_add(mailbox_beyond.into());
        let of_office = u64::from(limits.per_head_office.get()).saturating_add(beyond);
        let shared = all.saturating_sub(per_mailbox.div_euclid(KEPT_FOR_OTHERS));
        let used_by_office = usage
            .sent_by_office
            .saturating_add(usage.under_way_of_office);
        let used = usage.sent.saturating_add(usage.under_way);
        let room = if used_by_office == 0 { all } else { shared };
        if usage.is_new && usage.new_mailboxes >= u64::from(limits.new_mailboxes.get()) {
            return Turn::At(self.share.ends);
        }
        if usage.sent >= room || usage.sent_by_office >= of_office {
            let next_call = last_calls.into_iter().find(|at| *at > self.now);
            return Turn::At(next_call.unwrap_or(self.share.ends));
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

/// The last whole hours up to `ends`, the earliest first. Whole hours, so that offers that close in
/// the same one share a mail.
fn last_calls(ends: Timestamp) -> Vec<Timestamp> {
    let hour = ends.unix_millis().div_euclid(HOUR_MILLIS);
    let hours = (0..LAST_CALLS.cast_signed()).rev();
    hours
        .filter_map(|before| {
            let millis = hour.checked_sub(before)?.checked_mul(HOUR_MILLIS)?;
            Timestamp::from_unix_millis(millis)
        })
        .collect()
}

/// Whether mails of this kind are counted.
pub(crate) const fn is_counted(kind: MailKind) -> bool {
    match kind {
        MailKind::Offer | MailKind::Invitation => true,
        MailKind::EndpointPaused | MailKind::EndpointFailing | MailKind::EndpointRecovered => false,
    }
}

/// The mailbox that an address leads to, as the databases compute it: in small letters, without what
/// follows a plus sign.
pub(crate) fn mailbox(address: &Email) -> String {
    let address = address.as_str().to_ascii_lowercase();
    let (local, domain) = address.split_once('@').unwrap_or_default();
    match local.split_once('+') {
        Some((local, _)) if !local.is_empty() => format!("{local}@{domain}"),
        _ => address,
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use preauth_core::value::Timestamp;

    use super::{DailyShare, MailLimits, Turn, Usage};
    use crate::mail::MailClaim;

    fn moment(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn claim() -> MailClaim {
        let now = moment("2026-11-21T12:00:00Z");
        MailClaim {
            now,
            lease: TimeDelta::minutes(2),
            limit: 1,
            share: DailyShare::on_the_day_of(now, MailLimits::default()),
        }
    }

    /// The turn after these numbers of mails: sent and in progress, in all and of the same head
    /// office.
    fn turn(all: (u64, u64), of_office: (u64, u64)) -> Turn {
        claim().turn(&used(all, of_office), None)
    }

    fn used(all: (u64, u64), of_office: (u64, u64)) -> Usage {
        Usage {
            sent: all.0,
            under_way: all.1,
            sent_by_office: of_office.0,
            under_way_of_office: of_office.1,
            ..Usage::default()
        }
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
        assert_eq!(claim().turn(&usage, None), Turn::At(claim().share.ends));
        let known = Usage {
            is_new: false,
            ..usage
        };
        assert_eq!(claim().turn(&known, None), NOW);
    }

    /// The turn, at a time of day in UTC, of an offer that closes at the end of that day in
    /// São Paulo.
    fn turn_before_the_end(time: &str, all: u64, of_office: u64) -> Turn {
        let now = moment(&format!("2026-11-21T{time}Z"));
        let claim = MailClaim {
            now,
            share: DailyShare::on_the_day_of(now, MailLimits::default()),
            ..claim()
        };
        let ends = moment("2026-11-21T02:59:59.999Z");
        claim.turn(&used((all, 0), (of_office, 0)), Some(ends))
    }

    #[test]
    fn an_offer_that_closes_today_has_one_mail_more_in_each_of_its_last_hours() {
        let at = |time: &str| Turn::At(moment(&format!("2026-11-21T{time}Z")));
        let midnight = Turn::At(moment("2026-11-21T03:00:00.000Z"));
        assert_eq!(turn_before_the_end("00:30:00.000", 5, 5), LAST);
        assert_eq!(
            turn_before_the_end("00:30:00.000", 6, 6),
            at("01:00:00.000")
        );
        assert_eq!(turn_before_the_end("01:00:00.000", 6, 6), LAST);
        assert_eq!(
            turn_before_the_end("01:00:00.000", 7, 7),
            at("02:00:00.000")
        );
        assert_eq!(turn_before_the_end("02:00:00.000", 7, 7), LAST);
        assert_eq!(turn_before_the_end("02:00:00.000", 8, 8), midnight);
        assert_eq!(turn_before_the_end("00:30:00.000", 24, 0), LAST);
        assert_eq!(turn_before_the_end("02:00:00.000", 25, 0), midnight);
    }

    #[test]
    fn an_offer_that_closes_today_waits_for_its_last_hours_and_any_other_for_midnight() {
        let ends = moment("2026-11-22T02:59:59.999Z");
        let usage = used((5, 0), (5, 0));
        let first_call = moment("2026-11-22T00:00:00.000Z");
        assert_eq!(claim().turn(&usage, Some(ends)), Turn::At(first_call));
        let tomorrow = ends.saturating_add(TimeDelta::milliseconds(1));
        assert_eq!(
            claim().turn(&usage, Some(tomorrow)),
            Turn::At(claim().share.ends)
        );
    }
}
