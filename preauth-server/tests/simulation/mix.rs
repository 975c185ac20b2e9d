//! The faults of a run and their rates, drawn by each seed, so that one kind of fault does not hide
//! another.

use crate::random::Random;

/// How a run gets its rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rates {
    /// The seed draws them.
    OfSeed,
    /// The same, but many commits land late, and many while their caller still retries.
    ManyLate,
    /// No faults.
    None,
}

/// The rate of each fault, per thousand unless another unit is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mix {
    /// A call yields to others first.
    pub(crate) yields: u64,
    /// A call is delayed.
    pub(crate) delays: u64,
    pub(crate) max_delay_ms: u64,
    /// A call fails before it takes effect.
    pub(crate) fails: u64,
    /// A call takes effect, and its answer is lost.
    pub(crate) loses_answer: u64,
    /// A commit is written after its answer was lost.
    pub(crate) lands_late: u64,
    /// A commit is refused with a conflict although there is none.
    pub(crate) conflicts: u64,
    /// Somebody has locked a row that a call needs.
    pub(crate) stays_locked: u64,
    /// A commit finds no room for its delivery, which waits for a claim.
    pub(crate) finds_no_room: u64,
    /// A delivery is lost between its commit and the dispatcher, which leaves it to its lease.
    pub(crate) loses_handover: u64,
    /// The instance dies at a call, per hundred thousand.
    pub(crate) kills: u64,
    pub(crate) receiver: ReceiverMix,
    /// The clock jumps, per turn of its actor.
    pub(crate) jumps: u64,
    /// The clock of one machine is set, per turn of its actor.
    pub(crate) skews: u64,
    /// An endpoint is paused or a delivery resent, per turn of the operator.
    pub(crate) meddling: u64,
    /// The lifetime of an offer.
    pub(crate) offer_lifetime_ms: u64,
    /// A standby is promoted, per turn of its actor.
    pub(crate) promotions: u64,
    /// A delivery is left leased or due until days from now, per turn of its actor.
    pub(crate) leftovers: u64,
    /// Somebody has locked a row that a create of the directory needs: there are few of these.
    pub(crate) holds_records: u64,
    /// The dispatcher of an instance does nothing, or ends, while its service goes on; per start.
    pub(crate) silences: u64,
    /// For a real database: the host in memory sends no mails.
    pub(crate) mails: MailMix,
}

/// The rates of the mail server's failures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MailMix {
    /// Answers too late, or never.
    pub(crate) hangs: u64,
    /// Is unreachable.
    pub(crate) is_gone: u64,
    pub(crate) refuses_for_now: u64,
    pub(crate) refuses: u64,
    /// Offers stand for days, so that their mails wait for the next one.
    pub(crate) offers_last: bool,
}

/// The rates of a receiver's failures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReceiverMix {
    /// Answers after 4 to 14 seconds.
    pub(crate) is_slow: u64,
    /// Never answers.
    pub(crate) hangs: u64,
    /// Is unreachable.
    pub(crate) is_unreachable: u64,
    /// Accepts the event, and the connection breaks.
    pub(crate) breaks_off: u64,
    /// Answers with a status outside 2xx.
    pub(crate) refuses: u64,
    /// The supplier's receiver is never reachable.
    pub(crate) one_is_dead: bool,
}

impl Mix {
    /// No faults.
    pub(crate) const fn calm() -> Self {
        Self {
            yields: 300,
            delays: 300,
            max_delay_ms: 20,
            fails: 0,
            loses_answer: 0,
            lands_late: 0,
            conflicts: 0,
            stays_locked: 0,
            finds_no_room: 300,
            loses_handover: 0,
            kills: 0,
            receiver: ReceiverMix {
                is_slow: 0,
                hangs: 0,
                is_unreachable: 0,
                breaks_off: 0,
                refuses: 0,
                one_is_dead: false,
            },
            jumps: 0,
            skews: 0,
            meddling: 0,
            offer_lifetime_ms: 20_000,
            promotions: 0,
            leftovers: 0,
            holds_records: 0,
            silences: 0,
            mails: MailMix {
                hangs: 0,
                is_gone: 0,
                refuses_for_now: 0,
                refuses: 0,
                offers_last: false,
            },
        }
    }

    /// A seed's own mix, in which many commits land late. Callers are delayed for as long as these are, so
    /// that many retries come after them.
    pub(crate) fn with_many_late(random: &mut Random) -> Self {
        Self {
            delays: 700,
            max_delay_ms: 400,
            lands_late: 350,
            ..Self::drawn(random)
        }
    }

    /// A seed's own mix: about half of the faults, each at its own rate.
    pub(crate) fn drawn(random: &mut Random) -> Self {
        let mut rate = |most| {
            if random.chance(500) {
                random.between(1, most)
            } else {
                0
            }
        };
        Self {
            yields: rate(600),
            delays: rate(600),
            max_delay_ms: rate(400) + 1,
            fails: if rate(8) == 1 { 350 } else { rate(60) },
            loses_answer: rate(60),
            lands_late: rate(120),
            conflicts: rate(40),
            stays_locked: rate(40),
            finds_no_room: 300,
            loses_handover: rate(60),
            kills: rate(1500),
            receiver: ReceiverMix {
                is_slow: rate(150),
                hangs: rate(100),
                is_unreachable: rate(300),
                breaks_off: rate(200),
                refuses: rate(300),
                one_is_dead: rate(4) == 1,
            },
            jumps: rate(800),
            meddling: rate(900),
            offer_lifetime_ms: 5_000 + rate(60_000),
            skews: rate(900),
            promotions: rate(900),
            leftovers: rate(700),
            holds_records: rate(150),
            silences: rate(600),
            mails: MailMix {
                hangs: rate(400),
                is_gone: rate(300),
                refuses_for_now: rate(400),
                refuses: rate(200),
                offers_last: rate(1) == 1,
            },
        }
    }
}
