//! Mailboxes that got their mails of the day. A further mail to one is written as held: a claim would only
//! postpone it, and a night's offers to few suppliers are thousands of such mails.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use chrono::TimeDelta;
use preauth_core::port::{Commit, Write};
use preauth_core::value::{CompanyId, Timestamp};

use crate::live::Live;
use crate::mail::{MailClaim, MailLimits, is_counted, mailbox};

/// How long a claim's finding holds: a mail may fail and leave its place. After that the next mail is claimed again.
const HOLDS_FOR: TimeDelta = TimeDelta::seconds(10);
/// Maximum number of mailboxes that are remembered.
const MAX_REMEMBERED: usize = 10_000;
/// Time from one removal of old findings to the next: commits wait for it.
const REMOVAL_REST: TimeDelta = TimeDelta::seconds(1);

/// The mailboxes that this process found full, for one head office each.
#[derive(Debug, Default)]
pub(super) struct FullMailboxes {
    found: Mutex<Found>,
    /// The limits that hold now.
    limits: OnceLock<Live<MailLimits>>,
}

#[derive(Debug, Default)]
struct Found {
    mailboxes: HashMap<(CompanyId, String), Full>,
    /// When old findings were last removed.
    removed_at: Option<Timestamp>,
}

impl Found {
    fn remove_old(&mut self, now: Timestamp) {
        let rests = |at: Timestamp| at <= now && now < at.saturating_add(REMOVAL_REST);
        if !self.removed_at.is_some_and(rests) {
            self.mailboxes.retain(|_, it| it.holds_at(now));
            self.removed_at = Some(now);
        }
    }
}

/// Mails to a mailbox wait until the end of the day.
#[derive(Clone, Copy, Debug)]
struct Full {
    found_at: Timestamp,
    until: Timestamp,
    /// Under which it was found.
    limits: MailLimits,
}

impl Full {
    /// Whether it holds at `now`; not before it was found, either, in case the clock was set back.
    fn holds_at(self, now: Timestamp) -> bool {
        now >= self.found_at && now < self.until && now < self.found_at.saturating_add(HOLDS_FOR)
    }
}

impl FullMailboxes {
    /// Reads the limits there from now on.
    pub(super) fn follow(&self, limits: Live<MailLimits>) {
        let _ = self.limits.set(limits);
    }

    /// Remembers that mails of a head office to a mailbox wait until the end of the claim's day.
    pub(super) fn note(&self, head_office: CompanyId, mailbox: String, claim: &MailClaim) {
        let now = claim.now;
        let found = Full {
            found_at: now,
            until: claim.share.ends,
            limits: claim.share.limits,
        };
        let mut full = self.lock();
        if full.mailboxes.len() >= MAX_REMEMBERED {
            full.remove_old(now);
        }
        if full.mailboxes.len() < MAX_REMEMBERED {
            full.mailboxes.insert((head_office, mailbox), found);
        }
    }

    /// Holds the mail of a commit if its mailbox is full; not that of an offer that closes before, which
    /// has a time of its own.
    pub(super) fn hold(&self, commit: &mut Commit) {
        let (Some(mail), Write::NewOperation(operation)) = (&mut commit.mail, &commit.write) else {
            return;
        };
        if !is_counted(mail.kind) {
            return;
        }
        let full = &self.lock().mailboxes;
        if full.is_empty() {
            return;
        }
        let key = (commit.write.head_office(), mailbox(&mail.recipient));
        let limits = self.limits.get().map(Live::get);
        let found = full.get(&key).filter(|it| {
            it.holds_at(commit.event.at) && limits.is_none_or(|limits| limits == it.limits)
        });
        let until = found.map(|it| it.until);
        mail.held_until =
            until.filter(|until| operation.expires_at.is_none_or(|ends| ends >= *until));
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use preauth_core::value::{CompanyId, Timestamp};
    use uuid::Uuid;

    use super::{Full, FullMailboxes, MAX_REMEMBERED};
    use crate::mail::{DailyShare, MailClaim, MailLimits};

    fn moment(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn it_holds_for_some_seconds_and_not_beyond_the_day() {
        let full = Full {
            found_at: moment("2026-11-21T02:59:55.000Z"),
            until: moment("2026-11-21T03:00:00.000Z"),
            limits: MailLimits::default(),
        };
        for (now, holds) in [
            ("2026-11-21T02:59:54.999Z", false),
            ("2026-11-21T02:59:55.000Z", true),
            ("2026-11-21T02:59:59.999Z", true),
            ("2026-11-21T03:00:00.000Z", false),
        ] {
            assert_eq!(full.holds_at(moment(now)), holds, "{now}");
        }
        let early = Full {
            found_at: moment("2026-11-20T12:00:00.000Z"),
            ..full
        };
        assert!(early.holds_at(moment("2026-11-20T12:00:09.999Z")));
        assert!(!early.holds_at(moment("2026-11-20T12:00:10.000Z")));
    }

    #[test]
    fn old_findings_make_room_for_new_ones() {
        let mailboxes = FullMailboxes::default();
        let office = CompanyId::new(Uuid::from_u128(1));
        let claim_at = |now| MailClaim {
            now,
            lease: TimeDelta::minutes(2),
            limit: 1,
            share: DailyShare::on_the_day_of(now, MailLimits::default()),
        };
        let now = moment("2026-11-20T12:00:00.000Z");
        for n in 0..=MAX_REMEMBERED {
            mailboxes.note(office, format!("{n}@example.com"), &claim_at(now));
        }
        assert_eq!(mailboxes.lock().mailboxes.len(), MAX_REMEMBERED);
        let later = now.saturating_add(TimeDelta::seconds(11));
        mailboxes.note(office, "later@example.com".to_owned(), &claim_at(later));
        assert_eq!(mailboxes.lock().mailboxes.len(), 1);
    }
}
