//! The rules about stored records, with their texts.

use std::fmt;

use crate::port::Subject;
use crate::text_enum;

text_enum! {
    /// A rule about stored records.
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum Rule, "audit rule" {
        /// Every stored record can be read back.
        Readable => "READABLE",
        /// Every version has exactly one event.
        OneEventPerVersion => "ONE_EVENT_PER_VERSION",
        /// Each event is a row of the transition table.
        PathOfTheTable => "PATH_OF_THE_TABLE",
        /// The stored state equals the state replayed from the events.
        StateOfItsEvents => "STATE_OF_ITS_EVENTS",
        /// Every referenced record exists.
        References => "REFERENCES",
        /// Records are stored under their own head office and supplier.
        OwnParties => "OWN_PARTIES",
        /// An offer's supplier is registered, or was invited by the payer's head office.
        KnownSupplier => "KNOWN_SUPPLIER",
        /// A body reports its own event, and the state at the moment when the body was frozen.
        FrozenBody => "FROZEN_BODY",
        /// The amounts in events equal the stored ones.
        Amounts => "AMOUNTS",
        /// An offer expires only after `expires_at`; every other action on it happens no later.
        ExpiryInTime => "EXPIRY_IN_TIME",
        /// An expiry is recorded soon after its time.
        ExpiryRecorded => "EXPIRY_RECORDED",
        /// At most one operation in progress holds an invoice.
        OneHolder => "ONE_HOLDER",
        /// An operation has at most one payment order at a time.
        OnePaymentOrder => "ONE_PAYMENT_ORDER",
        /// An event is delivered to its own parties only, once to each endpoint.
        Recipients => "RECIPIENTS",
        /// The status of a delivery follows from its attempts.
        DeliveryOutcome => "DELIVERY_OUTCOME",
        /// Leases end, and their deliveries and mails are claimed again.
        LeasesEnd => "LEASES_END",
        /// A mail is about its own offer, or about an endpoint of its company.
        MailOfItsOwn => "MAIL_OF_ITS_OWN",
        /// The status of a mail follows from its attempts and its offer.
        MailOutcome => "MAIL_OUTCOME",
        /// An address receives at most the daily maximum of mails.
        DailyShare => "DAILY_SHARE",
        /// Every offer has its mail.
        OfferMail => "OFFER_MAIL",
        /// A stored reply repeats the creation of its own operation.
        ReplyOfCreation => "REPLY_OF_CREATION",
        /// The totals of lists equal the number of operations.
        CountsOfLists => "COUNTS_OF_LISTS",
        /// The byte count of each head office's invoice files is correct.
        FileBytes => "FILE_BYTES",
        /// No row of the audit log was changed, added or removed after it was sealed.
        SealedLog => "SEALED_LOG",
        /// A head office's list of events has each event that it may read once, and those of a record in the
        /// order of its versions.
        EventLists => "EVENT_LISTS",
    }
}

/// A rule that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which rule.
    pub rule: Rule,
    /// The record.
    pub subject: Subject,
    /// The finding, as a clause.
    pub what: String,
}

impl Rule {
    /// The rule in words.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Readable => "everything that is stored can be read back",
            Self::OneEventPerVersion => "every version has exactly one event",
            Self::PathOfTheTable => "each event is a step that the transition table has",
            Self::StateOfItsEvents => "the stored state is the one that the events lead to",
            Self::References => "what a record refers to exists",
            Self::OwnParties => "records stand under their own parties",
            Self::KnownSupplier => {
                "an offer's supplier is registered, or invited by the payer's head office"
            }
            Self::FrozenBody => "a body reports its own event as things were then",
            Self::Amounts => "amounts come out as they went in",
            Self::ExpiryInTime => "an offer expires after its time, and not before",
            Self::ExpiryRecorded => "an expiry is recorded soon after its time",
            Self::OneHolder => "at most one operation in progress holds an invoice",
            Self::OnePaymentOrder => "an operation has one payment order at a time",
            Self::Recipients => "an event goes to its own parties, once to each endpoint",
            Self::DeliveryOutcome => "the status of a delivery follows from its attempts",
            Self::LeasesEnd => "leases end, and what they held is taken up again",
            Self::MailOfItsOwn => "a mail is about its own offer or endpoint",
            Self::MailOutcome => "the status of a mail follows from its attempts and its offer",
            Self::DailyShare => "an address gets its share of mails a day and no more",
            Self::OfferMail => "every offer has its mail",
            Self::ReplyOfCreation => "an idempotency key repeats the creation of its operation",
            Self::CountsOfLists => "lists state how many operations there are",
            Self::FileBytes => "the bytes of invoice files are counted for each head office",
            Self::SealedLog => "the audit log is as it was sealed",
            Self::EventLists => {
                "a head office's list of events has each of its events once, in order"
            }
        }
    }

    /// The next step for the operator.
    #[must_use]
    #[expect(clippy::too_many_lines, reason = "a list, one sentence a rule")]
    pub const fn next_step(self) -> &'static str {
        match self {
            Self::Readable | Self::References => {
                "somebody wrote to the database past the server; compare the record with a backup"
            }
            Self::OneEventPerVersion
            | Self::PathOfTheTable
            | Self::StateOfItsEvents
            | Self::OwnParties
            | Self::KnownSupplier
            | Self::FrozenBody
            | Self::Amounts => {
                "leave the record as it is, compare it with a backup, and inform the parties what is \
                 right; then report it as a defect with this line"
            }
            Self::ExpiryInTime => {
                "check that the clocks of all instances agree; then report it as a defect with \
                 this line"
            }
            Self::ExpiryRecorded => {
                "is a server running? look for \"sweeper\" in its log; with no server on this \
                 database, audit with --at-rest"
            }
            Self::OneHolder => {
                "decide with the company which one counts, and withdraw or reprove the other; then \
                 check that the index operations_number_in_progress exists"
            }
            Self::OnePaymentOrder => {
                "cancel or reprove the one that is not to be paid; when both were paid, have one of the \
                 payments returned. Orders that were generated before this was a rule may break it; \
                 otherwise check that the table current_payment_orders exists, and report it as a \
                 defect with this line"
            }
            Self::Recipients => {
                "somebody may have received what is not theirs: look at the attempts of the \
                 delivery, and report it as a defect with this line"
            }
            Self::DeliveryOutcome => {
                "resend the delivery in the platform; then report it as a defect with this line"
            }
            Self::LeasesEnd => {
                "is a server running? look for \"dispatcher\", or for mails \"notices\", in its log; \
                 with no server on this database, audit with --at-rest"
            }
            Self::MailOfItsOwn => {
                "somebody may have read what is not theirs: look at the mail in the platform, and \
                 report it as a defect with this line"
            }
            Self::MailOutcome => {
                "look at the mail in the platform, and inform its reader if need be; then report it \
                 as a defect with this line"
            }
            Self::DailyShare => {
                "was mail.daily_share lowered since that day? otherwise check that the clocks of \
                 all instances agree, and report it as a defect with this line"
            }
            Self::OfferMail => {
                "was mail.retention_days raised since? otherwise inform the supplier by other means; then \
                 report it as a defect with this line"
            }
            Self::ReplyOfCreation => {
                "a repetition of this key gets a wrong answer: inform the company, and report it \
                 as a defect with this line"
            }
            Self::CountsOfLists => {
                "totals of lists are wrong and last pages may be short; nothing else depends on \
                 them. Check that the triggers on operations exist, and report it as a defect with \
                 this line"
            }
            Self::FileBytes => {
                "files.quota_gib counts with it, and nothing else does. Check that the triggers on \
                 invoice_files exist, and report it as a defect with this line"
            }
            Self::SealedLog => {
                "for a row without a seal: is a server running? look for \"audit_log\" in its log. \
                 Otherwise somebody changed the audit log past the server: compare its rows with a \
                 backup, and its seals with the lines \"sealed\" of the servers' logs (--seal)"
            }
            Self::EventLists => {
                "whoever reads events by GET /events may have missed one, read one twice, or read what is \
                 not theirs: compare the record with what the reader has, and inform the company; then \
                 report it as a defect with this line"
            }
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} ({})",
            self.subject,
            self.what,
            self.rule.sentence()
        )
    }
}
