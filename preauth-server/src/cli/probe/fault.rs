//! The faults of receivers: what each means, and what to do.

use crate::language::{Language, Text};

use super::words;

/// The guide, in each language; a fault's code is the heading of its section.
const GUIDE: Text = Text::new(
    "https://example.com/preauth/blob/main/docs/guides/test-your-receiver.md",
    "https://example.com/preauth/blob/main/docs/guides/test-your-receiver.pt.md",
);

macro_rules! faults {
    ($($fault:ident = $code:literal, $meaning:ident, $next:ident;)+) => {
        /// A fault of a receiver, or a weakness.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Fault {
            $(#[doc = $code] $fault,)+
        }

        impl Fault {
            #[cfg(test)]
            pub(super) const ALL: &[Self] = &[$(Self::$fault),+];

            /// For scripts.
            pub(super) const fn code(self) -> &'static str {
                match self { $(Self::$fault => $code,)+ }
            }

            pub(super) const fn meaning(self) -> Text {
                match self { $(Self::$fault => words::$meaning,)+ }
            }

            pub(super) const fn next(self) -> Text {
                match self { $(Self::$fault => words::$next,)+ }
            }
        }
    };
}

faults! {
    RefusesGenuine = "refuses-genuine", REFUSES_GENUINE, CHECK_SECRET;
    RefusesDuplicate = "refuses-duplicate", REFUSES_DUPLICATE, CONFIRM_KNOWN_ID;
    WorksTwice = "works-twice", WORKS_TWICE, UNIQUE_ID;
    ReprintsBody = "reprints-body", REPRINTS_BODY, KEEP_RAW_BODY;
    RefusesOlder = "refuses-older", REFUSES_OLDER, CONFIRM_OLDER;
    ReadsOneSignature = "reads-one-signature", READS_ONE_SIGNATURE, TRY_EVERY_V1;
    RefusesUnknownType = "refuses-unknown-type", REFUSES_UNKNOWN_TYPE, CONFIRM_UNKNOWN_TYPE;
    RefusesUnknownField = "refuses-unknown-field", REFUSES_UNKNOWN_FIELD, IGNORE_FIELDS;
    RefusesLarge = "refuses-large", REFUSES_LARGE, RAISE_BODY_LIMIT;
    RefusesSlow = "refuses-slow", REFUSES_SLOW, RAISE_READ_TIMEOUT;
    RefusesParallel = "refuses-parallel", REFUSES_PARALLEL, TAKE_PARALLEL;
    AcceptsOld = "accepts-old", ACCEPTS_OLD, COMPARE_TIME;
    AcceptsFuture = "accepts-future", ACCEPTS_FUTURE, COMPARE_TIME;
    AcceptsForged = "accepts-forged", ACCEPTS_FORGED, VERIFY;
    AcceptsUnsigned = "accepts-unsigned", ACCEPTS_UNSIGNED, REFUSE_UNSIGNED;
    FailsAfterwards = "fails-afterwards", FAILS_AFTERWARDS, SURVIVE;
    Redirects = "redirects", REDIRECTS, REGISTER_FINAL_URL;
    AnswersLate = "answers-late", ANSWERS_LATE, ANSWER_FIRST;
    NoAnswer = "no-answer", NO_ANSWER, LOOK_AT_LOG;
    BreaksOnForged = "breaks-on-forged", BREAKS_ON_FORGED, ANSWER_400;
    WorkUnseen = "work-unseen", WORK_UNSEEN, GIVE_COUNT;
    WorkNotCounted = "work-not-counted", WORK_NOT_COUNTED, COUNT_RIGHT;
}

impl Fault {
    /// Where it is explained.
    pub(super) fn link(self, language: Language) -> String {
        format!("{}#{}", GUIDE.of(language), self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::Fault;

    #[test]
    fn every_fault_has_its_section_in_the_guide() {
        for guide in [
            include_str!("../../../../docs/guides/test-your-receiver.md"),
            include_str!("../../../../docs/guides/test-your-receiver.pt.md"),
        ] {
            for fault in Fault::ALL {
                let heading = format!("\n### {}\n", fault.code());
                assert!(guide.contains(&heading), "{heading}");
            }
        }
    }
}
