//! How many mails one address gets in a day.
//!
//! Whoever offers an advance chooses the address, so that nobody can be flooded through us. Mails to
//! a company about its own endpoint are not counted.

use std::num::NonZeroU32;

use chrono::TimeDelta;
use preauth_core::port::NoticeKind;
use preauth_core::value::{Timestamp, calendar};

use super::queue::NoticeClaim;

const ONE_MILLI: TimeDelta = TimeDelta::milliseconds(1);

/// What one address gets in the day that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DailyShare {
    /// So many mails.
    pub mails: NonZeroU32,
    /// The first moment of the day in São Paulo.
    pub begins: Timestamp,
    /// The first moment of the next day.
    pub ends: Timestamp,
}

/// Whether a mail's turn has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Now,
    /// Its address has had enough until then.
    At(Timestamp),
}

impl DailyShare {
    /// The share in the day of `now`.
    #[must_use]
    pub fn on_the_day_of(now: Timestamp, mails: NonZeroU32) -> Self {
        let today = calendar::today(now);
        let yesterday = today.pred_opt().unwrap_or(today);
        Self {
            mails,
            begins: calendar::end_of_day(yesterday).saturating_add(ONE_MILLI),
            ends: calendar::end_of_day(today).saturating_add(ONE_MILLI),
        }
    }
}

impl NoticeClaim {
    /// The turn of a mail whose address was sent `sent` today, while `under_way` are leased and may
    /// be sent.
    pub(crate) fn turn(&self, sent: u64, under_way: u64) -> Turn {
        let mails = u64::from(self.share.mails.get());
        if sent >= mails {
            Turn::At(self.share.ends)
        } else if sent.saturating_add(under_way) >= mails {
            // Those under way may yet fail and leave their place to this one.
            Turn::At(self.now.saturating_add(self.lease))
        } else {
            Turn::Now
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
    use std::num::NonZeroU32;

    use chrono::TimeDelta;
    use preauth_core::value::Timestamp;

    use super::{DailyShare, Turn};
    use crate::notices::NoticeClaim;

    fn moment(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn a_day_is_one_of_sao_paulo() {
        for now in ["2026-11-21T03:00:00.000Z", "2026-11-22T02:59:59.999Z"] {
            let share = DailyShare::on_the_day_of(moment(now), NonZeroU32::MIN);
            assert_eq!(share.begins, moment("2026-11-21T03:00:00.000Z"));
            assert_eq!(share.ends, moment("2026-11-22T03:00:00.000Z"));
        }
    }

    #[test]
    fn whoever_has_had_enough_waits_for_tomorrow_and_behind_those_under_way_not_so_long() {
        let now = moment("2026-11-21T12:00:00Z");
        let claim = NoticeClaim {
            now,
            lease: TimeDelta::minutes(2),
            share: DailyShare::on_the_day_of(now, NonZeroU32::new(20).unwrap()),
        };
        assert_eq!(claim.turn(19, 0), Turn::Now);
        assert_eq!(claim.turn(0, 19), Turn::Now);
        assert_eq!(claim.turn(20, 0), Turn::At(claim.share.ends));
        let soon = now.saturating_add(claim.lease);
        assert_eq!(claim.turn(19, 1), Turn::At(soon));
        assert_eq!(claim.turn(0, 20), Turn::At(soon));
    }
}
