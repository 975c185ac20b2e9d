//! Checks mails: their subject, whether their status follows from their attempts, and how many an address
//! received.

use std::collections::HashMap;

use chrono::{NaiveDate, TimeDelta};

use crate::port::{
    MailKind, MailStatus, NotifiedOffer, OfferWithoutMail, SentMail, StoredMail, Subject,
};
use crate::value::{Origin, Status, Timestamp, calendar};

use super::checker::{Checker, Findings, LEASE_PATIENCE, MAX_LEASE};
use super::{Rule, Violation};

/// Maximum time for which the record of a mail is expected after its end.
const KEPT: TimeDelta = TimeDelta::days(30);

impl Checker<'_> {
    /// Checks a mail.
    #[must_use]
    pub fn mail(&self, stored: &StoredMail) -> Vec<Violation> {
        let mut found = Findings::of(Subject::Mail(stored.id));
        of_its_own(stored, &mut found);
        ended(stored, &mut found);
        outcome(stored, &mut found);
        self.mail_lease(stored, &mut found);
        found.violations
    }

    /// Checks an offer without a mail; `latest` is the latest time that the audit has seen.
    pub(super) fn offer_without_mail(
        &self,
        offer: OfferWithoutMail,
        latest: Timestamp,
    ) -> Vec<Violation> {
        let mut found = Findings::of(Subject::Operation(offer.operation));
        let now = latest.max(self.moment.now);
        let kept = self.moment.mails_kept.map_or(KEPT, |kept| kept.min(KEPT));
        let may_be_removed = offer.created_at <= now.saturating_sub(kept);
        let is_erased = offer.erased_at.is_some_and(|at| at >= offer.created_at);
        found.expect(may_be_removed || is_erased, Rule::OfferMail, || {
            format!(
                "it was offered at {}, and there is no mail of it",
                offer.created_at
            )
        });
        found.violations
    }

    fn mail_lease(&self, stored: &StoredMail, found: &mut Findings) {
        let Some(until) = stored.leased_until else {
            return;
        };
        let host_now = self.host_now;
        let ends = until <= host_now.saturating_add(MAX_LEASE);
        found.expect(ends, Rule::LeasesEnd, || {
            format!("it is leased until {until}, and it is {host_now}")
        });
        let is_left = self.moment.is_live && until < host_now.saturating_sub(LEASE_PATIENCE);
        found.expect(!is_left, Rule::LeasesEnd, || {
            format!("its lease ended at {until}, and nobody has taken it up again")
        });
    }
}

/// Counts the mails of each address of a mailbox on one day; the mails of a mailbox arrive consecutively,
/// by day. Each address is counted separately, because earlier builds limited addresses, not mailboxes.
#[derive(Debug, Default)]
pub(super) struct ShareCount {
    mailbox: String,
    day: NaiveDate,
    mails: HashMap<String, u32>,
}

impl ShareCount {
    /// Counts one more mail; only the first one that exceeds the share is reported.
    pub(super) fn count(&mut self, sent: &SentMail, checker: &Checker<'_>) -> Vec<Violation> {
        let day = calendar::today(sent.at);
        if self.mailbox != sent.mailbox || self.day != day {
            self.mailbox.clone_from(&sent.mailbox);
            self.day = day;
            self.mails.clear();
        }
        let mails = self.mails.entry(sent.address.clone()).or_default();
        *mails = mails.saturating_add(1);
        let share = checker.moment.daily_share.get();
        let mut found = Findings::of(Subject::Mail(sent.id));
        let exceeds = *mails == share.saturating_add(1);
        found.expect(!exceeds, Rule::DailyShare, || {
            format!("its address was sent more than {share} mails on {day}")
        });
        found.violations
    }
}

fn of_its_own(stored: &StoredMail, found: &mut Findings) {
    let is_of_an_offer = match stored.kind {
        MailKind::Offer | MailKind::Invitation => true,
        MailKind::EndpointPaused | MailKind::EndpointFailing | MailKind::EndpointRecovered => false,
    };
    let (holds, what) = match stored.operation {
        None if is_of_an_offer => (false, "it names no operation".to_owned()),
        None => (
            stored.has_endpoint,
            "its company never had an endpoint".to_owned(),
        ),
        Some((id, None)) => (false, format!("there is no operation {id}")),
        Some((id, Some(offer))) => (
            is_of_an_offer && is_announced_by(stored, &offer),
            format!(
                "operation {id} is not an offer of its company at {}",
                stored.staged_at
            ),
        ),
    };
    found.expect(holds, Rule::MailOfItsOwn, || what);
}

fn is_announced_by(stored: &StoredMail, offer: &NotifiedOffer) -> bool {
    offer.origin == Origin::PreAuth
        && offer.head_office == stored.head_office
        && offer.created_at == stored.staged_at
}

/// A mail that has ended has an end time, no next attempt, no lease and is not held; a pending one has a
/// next attempt and no end time. Neither time precedes the staging.
fn ended(stored: &StoredMail, found: &mut Findings) {
    let is_pending = stored.status == MailStatus::Pending;
    let fits = is_pending == stored.ended_at.is_none()
        && is_pending == stored.next_attempt_at.is_some()
        && (is_pending || (!stored.is_held && stored.leased_until.is_none()));
    found.expect(fits, Rule::MailOutcome, || {
        let status = stored.status.as_str();
        format!("it counts as {status}, and its moments and leases contradict that")
    });
    let moments = stored.ended_at.into_iter().chain(stored.next_attempt_at);
    for moment in moments {
        found.expect(moment >= stored.staged_at, Rule::MailOutcome, || {
            let staged = stored.staged_at;
            format!("it was staged at {staged}, and is to have gone on at {moment}")
        });
    }
}

fn outcome(stored: &StoredMail, found: &mut Findings) {
    let was_tried = stored.attempts_made > 0;
    let (holds, what) = match stored.status {
        MailStatus::Pending => (true, ""),
        MailStatus::Sent => (
            was_tried && !stored.has_error,
            "sent, and no attempt shows it",
        ),
        MailStatus::Failed => (
            was_tried && stored.has_error,
            "failed, and no attempt shows it",
        ),
        MailStatus::Canceled => (
            can_be_canceled(stored),
            "canceled, and its offer stood at that moment",
        ),
    };
    found.expect(holds, Rule::MailOutcome, || {
        let attempts = stored.attempts_made;
        format!("it counts as {what}; {attempts} attempts are recorded")
    });
}

fn can_be_canceled(stored: &StoredMail) -> bool {
    if stored.is_suppressed {
        return stored.operation.is_some();
    }
    let Some((_, Some(offer))) = stored.operation else {
        return false;
    };
    let has_expired = offer
        .expires_at
        .zip(stored.ended_at)
        .is_some_and(|(end, canceled)| canceled > end);
    offer.status != Status::InPreAuth || has_expired
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use uuid::Uuid;

    use crate::audit::{Checker, Moment, Rule};
    use crate::port::{
        BodyDecoder, DecodedEvent, DecodedReply, MailKind, MailStatus, NotifiedOffer, SentMail,
        StoredMail,
    };
    use crate::value::{CompanyId, MailId, OperationId, Origin, Status, Timestamp};

    use super::ShareCount;

    /// Mails are checked without their words.
    struct Unread;

    impl BodyDecoder for Unread {
        fn event(&self, _: &str) -> Option<DecodedEvent> {
            None
        }

        fn reply(&self, _: &str) -> Option<DecodedReply> {
            None
        }
    }

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn checked<T>(ask: impl FnOnce(&Checker<'_>) -> T) -> T {
        let now = at("2026-11-21T12:00:00Z");
        let moment = Moment {
            now,
            is_live: true,
            daily_share: NonZeroU32::new(2).unwrap(),
            mails_kept: None,
        };
        ask(&Checker::new(&Unread, moment, now))
    }

    fn sent() -> StoredMail {
        let staged_at = at("2026-11-20T12:00:00Z");
        let head_office = CompanyId::new(Uuid::nil());
        let offer = NotifiedOffer {
            head_office,
            origin: Origin::PreAuth,
            created_at: staged_at,
            status: Status::InPreAuth,
            expires_at: Some(at("2026-12-20T12:00:00Z")),
        };
        StoredMail {
            id: MailId::new(Uuid::nil()),
            head_office,
            kind: MailKind::Offer,
            operation: OperationId::new(4).map(|id| (id, Some(offer))),
            has_endpoint: false,
            status: MailStatus::Sent,
            is_held: false,
            is_suppressed: false,
            staged_at,
            next_attempt_at: None,
            ended_at: Some(staged_at),
            attempts_made: 1,
            has_error: false,
            leased_until: None,
        }
    }

    fn rules(mail: &StoredMail) -> Vec<Rule> {
        let found = checked(|checker| checker.mail(mail));
        found.into_iter().map(|violation| violation.rule).collect()
    }

    #[test]
    fn a_mail_of_an_operation_that_is_not_there_is_nobodys() {
        assert_eq!(rules(&sent()), []);
        let mut stray = sent();
        stray.operation = OperationId::new(99).map(|id| (id, None));
        assert_eq!(rules(&stray), [Rule::MailOfItsOwn]);
        stray.operation = None;
        assert_eq!(rules(&stray), [Rule::MailOfItsOwn]);
    }

    #[test]
    fn only_an_offer_that_cannot_be_requested_any_more_is_not_announced() {
        let mut canceled = sent();
        canceled.status = MailStatus::Canceled;
        canceled.ended_at = Some(at("2026-12-20T12:00:00.000Z"));
        assert_eq!(rules(&canceled), [Rule::MailOutcome]);
        canceled.ended_at = Some(at("2026-12-20T12:00:00.001Z"));
        assert_eq!(rules(&canceled), []);
    }

    #[test]
    fn the_first_mail_above_the_share_of_a_day_of_sao_paulo_is_reported() {
        let mut count = ShareCount::default();
        let mut found = |address: &str, moment| {
            let sent = SentMail {
                id: MailId::new(Uuid::nil()),
                mailbox: "a@example.com".to_owned(),
                address: address.to_owned(),
                at: at(moment),
            };
            checked(|checker| count.count(&sent, checker)).len()
        };
        let (evening, midnight) = ("2026-11-21T02:59:59.999Z", "2026-11-21T03:00:00Z");
        assert_eq!(
            [evening, evening, midnight, midnight].map(|it| found("a", it)),
            [0; 4]
        );
        assert_eq!([midnight, midnight].map(|it| found("a", it)), [1, 0]);
        // Addresses of a mailbox are counted one by one, in whatever order they come.
        assert_eq!(
            ["b", "a", "b", "c", "b"].map(|it| found(it, midnight)),
            [0, 0, 0, 0, 1]
        );
    }
}
