//! Mailboxes that got their mails of the day. A further mail to one is written as held: a claim would only
//! postpone it, and a night's offers to few suppliers are thousands of such mails.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::TimeDelta;
use preauth_core::port::{Commit, Write};
use preauth_core::value::{CompanyId, Timestamp};

use crate::mail::{is_counted, mailbox};

/// How long a claim's finding holds: a mail may fail and leave its place, and limits may be raised. After
/// that the next mail is claimed again.
const HOLDS_FOR: TimeDelta = TimeDelta::seconds(10);
/// Maximum number of mailboxes that are remembered.
const MAX_REMEMBERED: usize = 10_000;

/// The mailboxes that this process found full, for one head office each.
#[derive(Debug, Default)]
pub(super) struct FullMailboxes(Mutex<HashMap<(CompanyId, String), Full>>);

/// Mails to a mailbox wait until the end of the day.
#[derive(Clone, Copy, Debug)]
struct Full {
    found_at: Timestamp,
    until: Timestamp,
}

impl Full {
    /// Whether it holds at `now`; not before it was found, either, in case the clock was set back.
    fn holds_at(self, now: Timestamp) -> bool {
        now >= self.found_at && now < self.until && now < self.found_at.saturating_add(HOLDS_FOR)
    }
}

impl FullMailboxes {
    /// Remembers that mails of a head office to a mailbox wait until `until`.
    pub(super) fn note(
        &self,
        head_office: CompanyId,
        mailbox: String,
        now: Timestamp,
        until: Timestamp,
    ) {
        let mut full = self.lock();
        if full.len() >= MAX_REMEMBERED {
            full.retain(|_, it| it.holds_at(now));
        }
        if full.len() < MAX_REMEMBERED {
            let found_at = now;
            full.insert((head_office, mailbox), Full { found_at, until });
        }
    }

    /// Holds the mail of a commit if its mailbox is full; not that of an offer that closes before, which
    /// has a time of its own.
    pub(super) fn hold(&self, commit: &mut Commit) {
        let (Some(mail), Write::NewOperation(operation)) = (&mut commit.mail, &commit.write) else {
            return;
        };
        let full = self.lock();
        if full.is_empty() || !is_counted(mail.kind) {
            return;
        }
        let key = (commit.write.head_office(), mailbox(&mail.recipient));
        let found = full.get(&key).filter(|it| it.holds_at(commit.event.at));
        let until = found.map(|it| it.until);
        mail.held_until =
            until.filter(|until| operation.expires_at.is_none_or(|ends| ends >= *until));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(CompanyId, String), Full>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use preauth_core::value::{CompanyId, Timestamp};
    use uuid::Uuid;

    use super::{Full, FullMailboxes, MAX_REMEMBERED};

    fn moment(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn it_holds_for_some_seconds_and_not_beyond_the_day() {
        let full = Full {
            found_at: moment("2026-11-21T02:59:55.000Z"),
            until: moment("2026-11-21T03:00:00.000Z"),
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
        let now = moment("2026-11-20T12:00:00.000Z");
        let until = now.saturating_add(TimeDelta::hours(1));
        for n in 0..=MAX_REMEMBERED {
            mailboxes.note(office, format!("{n}@example.com"), now, until);
        }
        assert_eq!(mailboxes.lock().len(), MAX_REMEMBERED);
        let later = now.saturating_add(TimeDelta::seconds(11));
        mailboxes.note(office, "later@example.com".to_owned(), later, until);
        assert_eq!(mailboxes.lock().len(), 1);
    }
}
