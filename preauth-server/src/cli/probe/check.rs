//! What is tried, and what the answers must be.

use crate::language::Text;

use super::fault::Fault;
use super::words;

/// What a receiver must do with a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// Answer 2xx.
    Confirmed,
    /// Answer anything else.
    Refused,
    /// Answer 2xx, or ask for it again: the same event is being worked on.
    ConfirmedOrLater,
}

/// A check.
#[derive(Debug)]
pub(super) struct Check {
    /// For scripts.
    pub(super) id: &'static str,
    pub(super) title: Text,
    pub(super) expected: Expected,
    /// The fault of a receiver that does the contrary.
    pub(super) fault: Fault,
}

macro_rules! checks {
    ($($name:ident = $id:literal, $title:ident, $expected:ident, $fault:ident;)+) => {$(
        pub(super) const $name: Check = Check {
            id: $id,
            title: words::$title,
            expected: Expected::$expected,
            fault: Fault::$fault,
        };
    )+};
}

checks! {
    GENUINE = "genuine", GENUINE, Confirmed, RefusesGenuine;
    DUPLICATE = "duplicate", DUPLICATE, Confirmed, RefusesDuplicate;
    COUNTED = "counted", COUNTED, Confirmed, WorksTwice;
    OTHER_ENCODER = "other-encoder", OTHER_ENCODER, Confirmed, ReprintsBody;
    OUT_OF_ORDER = "out-of-order", OUT_OF_ORDER, Confirmed, RefusesOlder;
    SECOND_SIGNATURE = "second-signature", SECOND_SIGNATURE, Confirmed, ReadsOneSignature;
    UNKNOWN_TYPE = "unknown-type", UNKNOWN_TYPE, Confirmed, RefusesUnknownType;
    UNKNOWN_FIELD = "unknown-field", UNKNOWN_FIELD, Confirmed, RefusesUnknownField;
    LARGE = "large", LARGE, Confirmed, RefusesLarge;
    SLOW = "slow", SLOW, Confirmed, RefusesSlow;
    PARALLEL = "parallel", PARALLEL, Confirmed, RefusesParallel;
    PARALLEL_DUPLICATES = "parallel-duplicates", PARALLEL_DUPLICATES, ConfirmedOrLater, RefusesDuplicate;
    PARALLEL_COUNTED = "parallel-counted", PARALLEL_COUNTED, Confirmed, WorksTwice;
    OLD = "old", OLD, Refused, AcceptsOld;
    FUTURE = "future", FUTURE, Refused, AcceptsFuture;
    FORGED = "forged", FORGED, Refused, AcceptsForged;
    ALTERED = "altered", ALTERED, Refused, AcceptsForged;
    UNSIGNED = "unsigned", UNSIGNED, Refused, AcceptsUnsigned;
    AFTERWARDS = "afterwards", AFTERWARDS, Confirmed, FailsAfterwards;
}
