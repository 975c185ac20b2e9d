//! The steps of a script.

use super::table::Deed;

/// One step of a script.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Offer(OfferStep),
    Advance {
        payer: Payer,
        supplier: Supplier,
        number: Option<u64>,
    },
    /// The platform registers the new supplier, if it has been invited.
    Register,
    /// `deed` on the operation with this index, modulo the number of operations.
    Do {
        index: u64,
        deed: Deed,
        /// Selects the deed's arguments, most of which are refused.
        spelling: u64,
    },
    /// Time passes.
    Pass(Pass),
    /// The sweeper makes a step.
    Sweep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OfferStep {
    pub(super) payer: Payer,
    pub(super) supplier: Supplier,
    pub(super) number: u64,
    pub(super) cents: i64,
    pub(super) days_ahead: i64,
    pub(super) key: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payer {
    Head,
    /// A branch of `Head`.
    Branch,
    /// The head office of another group.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Supplier {
    Registered,
    /// Not registered at first; the offer names it.
    New,
    /// The same supplier as `New`, in an offer that does not name it.
    Unnamed,
    /// A branch of a legal entity that `Head` blocks and `Other` does not.
    Blocked,
    /// A branch of `Head`.
    Payer,
    /// A branch of that branch's legal entity, not registered at first; the offer names it.
    PayersEntity,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Pass {
    Millis(i64),
    /// To the last moment of the offer that ends first.
    ToNextExpiry,
    /// To the moment after that.
    PastNextExpiry,
}

/// The maximum amount that the credit of `Head` allows, in cents.
pub(super) const CREDIT_CENTS: i64 = 1_500_000;
/// The amount of every direct advance.
pub(super) const ADVANCE_CENTS: i64 = 900_000;
/// The maximum term that the credit of `Head` allows, in days.
pub(super) const CREDIT_DAYS: i64 = 120;

const HOUR_MS: i64 = 3_600_000;

impl Step {
    /// The step that a number encodes; every number encodes one.
    pub(super) fn spelled_by(number: u64) -> Self {
        let mut dice = Dice(number);
        match dice.roll(20) {
            0..=4 => Self::Offer(offer(&mut dice)),
            5 => Self::Advance {
                payer: *dice.pick(&[Payer::Head, Payer::Branch, Payer::Other]),
                supplier: *dice.pick(&[Supplier::Registered, Supplier::New, Supplier::Payer]),
                number: *dice.pick(&[None, Some(0), Some(1), Some(2)]),
            },
            6 => Self::Pass(*dice.pick(&[
                Pass::Millis(1),
                Pass::Millis(5 * HOUR_MS),
                Pass::Millis(10 * 24 * HOUR_MS),
                Pass::ToNextExpiry,
                Pass::PastNextExpiry,
                Pass::PastNextExpiry,
            ])),
            7 => Self::Sweep,
            8 if dice.roll(4) == 0 => Self::Register,
            _ => Self::Do {
                deed: *dice.pick(&Deed::ALL),
                spelling: dice.roll(6),
                index: dice.0,
            },
        }
    }
}

fn offer(dice: &mut Dice) -> OfferStep {
    use Supplier as S;
    OfferStep {
        payer: *dice.pick(&[Payer::Head, Payer::Head, Payer::Other]),
        supplier: *dice.pick(&[
            S::Registered,
            S::Registered,
            S::Registered,
            S::New,
            S::Unnamed,
            S::Blocked,
            S::Payer,
            S::PayersEntity,
        ]),
        number: dice.roll(3),
        cents: *dice.pick(&[CREDIT_CENTS, 1_250_001, 50_000, CREDIT_CENTS + 1]),
        days_ahead: *dice.pick(&[5, 30, 60, CREDIT_DAYS, CREDIT_DAYS + 1, 180, 4, 181]),
        key: *dice.pick(&[None, None, Some(0), Some(1)]),
    }
}

/// Choices derived from one number.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        let shown = self.0 % sides;
        self.0 /= sides;
        shown
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let index = self.roll(u64::try_from(of.len()).unwrap());
        &of[usize::try_from(index).unwrap()]
    }
}
