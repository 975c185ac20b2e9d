//! Mails: I19, I20 and I21. Only a real database keeps mails; the host in memory only stages them.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{NaiveDate, TimeDelta};
use preauth_core::port::MailStatus;
use preauth_core::value::{MailId, OperationId, Status, Timestamp, calendar};
use preauth_server::mail::Outcome;

use crate::history::{Entry, Fact, MailFact, Recorded};
use crate::mail_server::limits;

use super::Case;

/// A lease is not shorter than this, less what its record may come late.
const SHORTEST_LEASE: TimeDelta = TimeDelta::seconds(110);
/// Maximum time that a leased mail waits until it goes out, and what its record may come late.
const MAX_WAIT: TimeDelta = TimeDelta::seconds(3);
/// Mails that a head office may send to a mailbox beyond its limit, if their offers close on the same day.
const LAST_CALLS: u32 = 3;

/// The state of all mails at one point of the history.
#[derive(Default)]
struct Known<'a> {
    /// The offers' mails: one may go out before its commit is recorded.
    owed: BTreeMap<MailId, &'a Recorded>,
    /// Where in the history each offer was closed.
    closed: BTreeMap<OperationId, usize>,
    /// The newest lease of each mail, or of the mail that it is joined to.
    leases: BTreeMap<MailId, Lease>,
    /// Until when each mail is leased at least.
    leased_until: BTreeMap<MailId, Timestamp>,
    /// The mails that each instance sends, with those that are joined to them.
    under_way: BTreeMap<(usize, MailId), Vec<MailId>>,
    taken: BTreeSet<MailId>,
    refused: BTreeSet<MailId>,
    /// The number of mails that were sent to each mailbox on each day, and how many may be.
    sent: BTreeMap<(String, NaiveDate), (u32, u32)>,
    /// When the clocks have jumped: leases from before may have ended.
    jumped_at: Option<Timestamp>,
}

struct Lease {
    instance: usize,
    token: i64,
    at: Timestamp,
    mails: Vec<MailId>,
    is_used: bool,
}

impl<'a> Case<'a> {
    pub(super) fn mails(&mut self) {
        if self.is_exact {
            return;
        }
        let mut known = Known::default();
        for (place, entry) in self.history.iter().enumerate() {
            if let Fact::Committed(recorded) = &entry.fact {
                if let Some(mail) = &recorded.mail {
                    known.owed.insert(mail.id, &**recorded);
                }
                if recorded.operation.status() != Status::InPreAuth {
                    let id = recorded.operation.id;
                    known.closed.entry(id).or_insert(place);
                }
            }
        }
        for entry in self.history {
            match &entry.fact {
                Fact::Mail(fact) => self.mail_step(&mut known, entry, fact),
                Fact::Jumped(by) => {
                    known.leased_until.clear();
                    known.jumped_at = Some(entry.at.saturating_add(*by));
                }
                Fact::LeasesAdvanced => {
                    known.leased_until.clear();
                    known.jumped_at = Some(entry.at);
                }
                _ => {}
            }
        }
        self.mails_ended(&known);
    }

    fn mail_step(&mut self, known: &mut Known<'a>, entry: &Entry, fact: &MailFact) {
        match fact {
            MailFact::Leased {
                instance,
                mail,
                token,
                joined,
                now,
                asked_after,
            } => {
                let mails: Vec<_> = std::iter::once(*mail)
                    .chain(joined.iter().copied())
                    .collect();
                for it in &mails {
                    self.leased_alone(known, entry, *it);
                    self.stands(known, *it, *now, *asked_after);
                }
                let lease = Lease {
                    instance: *instance,
                    token: *token,
                    at: entry.at,
                    mails,
                    is_used: false,
                };
                known.leases.insert(*mail, lease);
            }
            MailFact::GoesOut {
                instance,
                mail,
                recipient,
            } => {
                self.is_owed_to(known, *mail, recipient);
                self.goes_out(known, entry, *instance, *mail);
            }
            MailFact::Taken { instance, mail } => {
                let mails = known.under_way.get(&(*instance, *mail));
                known.taken.extend(mails.into_iter().flatten());
            }
            MailFact::Refused { instance, mail } => {
                let mails = known.under_way.get(&(*instance, *mail));
                known.refused.extend(mails.into_iter().flatten());
            }
            MailFact::Finished {
                mail,
                token,
                outcome,
                is_recorded: true,
            } => {
                let newest = known.leases.get(mail).map(|lease| lease.token);
                self.expect(newest == Some(*token), "I20", || {
                    format!("{fact:?}, and the newest lease is {newest:?}")
                });
                known.end_lease(*mail, *token);
                if let Outcome::Sent { at } = outcome {
                    self.sent(known, *mail, *at);
                }
            }
            MailFact::Released { mail, token } => known.end_lease(*mail, *token),
            MailFact::Canceled | MailFact::Finished { .. } => {}
        }
    }

    /// Nobody else has a lease of the mail.
    fn leased_alone(&mut self, known: &mut Known<'a>, entry: &Entry, mail: MailId) {
        let until = entry.at.saturating_add(SHORTEST_LEASE);
        let earlier = known.leased_until.insert(mail, until);
        let has_ended = earlier.is_none_or(|earlier| earlier <= entry.at);
        self.expect(has_ended, "I20", || {
            format!(
                "{}, and mail {mail} is leased until {earlier:?}",
                entry.fact
            )
        });
    }

    /// The mail's offer was not closed when the claim began.
    fn stands(&mut self, known: &Known<'a>, mail: MailId, now: Timestamp, asked_after: usize) {
        let Some(recorded) = known.owed.get(&mail) else {
            return;
        };
        let operation = &recorded.operation;
        let closed = known.closed.get(&operation.id);
        let stands =
            closed.is_none_or(|closed| *closed >= asked_after) && !operation.is_overdue(now);
        self.expect(stands, "I20", || {
            let (id, ends) = (operation.id, operation.expires_at);
            format!(
                "mail {mail} was leased at {now}; offer {id}, closed at {closed:?}, ends {ends:?}"
            )
        });
    }

    fn is_owed_to(&mut self, known: &Known<'a>, mail: MailId, recipient: &str) {
        let owed = known.owed.get(&mail).and_then(|it| it.mail.as_ref());
        let is_owed = match owed {
            Some(owed) => owed.recipient.as_str() == recipient,
            None => self.is_of_an_endpoint(mail),
        };
        self.expect(is_owed, "I19", || {
            format!("mail {mail} goes out to {recipient}, and nobody owes it")
        });
    }

    /// A mail about a pause, which no offer owes.
    fn is_of_an_endpoint(&self, mail: MailId) -> bool {
        let stored = self.end.mails.get(&mail);
        stored.is_some_and(|stored| stored.operation.is_none())
    }

    /// A mail goes out once under each lease, soon after it, by its holder.
    fn goes_out(&mut self, known: &mut Known<'a>, entry: &Entry, instance: usize, mail: MailId) {
        let has_just_jumped = known
            .jumped_at
            .is_some_and(|jumped| entry.at <= jumped.saturating_add(MAX_WAIT));
        let lease = known.leases.get_mut(&mail);
        let lease = lease.filter(|it| it.instance == instance);
        let is_in_time = lease
            .as_ref()
            .is_some_and(|lease| !lease.is_used && entry.at <= lease.at.saturating_add(MAX_WAIT));
        self.expect(is_in_time || has_just_jumped, "I20", || {
            format!(
                "{}, and instance {instance} has no lease for that",
                entry.fact
            )
        });
        let mut mails = vec![mail];
        if let Some(lease) = lease {
            lease.is_used = true;
            mails.clone_from(&lease.mails);
        }
        known.under_way.insert((instance, mail), mails);
    }

    /// What counts as sent was sent, and within the limits of its day.
    fn sent(&mut self, known: &mut Known<'a>, mail: MailId, at: Timestamp) {
        self.expect(known.taken.contains(&mail), "I19", || {
            format!("mail {mail} counts as sent, and the mail server does not have it")
        });
        let Some(recorded) = known.owed.get(&mail) else {
            return;
        };
        let Some(owed) = &recorded.mail else { return };
        let day = calendar::today(at);
        let closes_today = recorded
            .operation
            .expires_at
            .is_some_and(|ends| ends <= calendar::end_of_day(day));
        let last_calls = if closes_today { LAST_CALLS } else { 0 };
        let may_be = limits().per_head_office.get() + last_calls;
        let key = (mailbox(owed.recipient.as_str()), day);
        let (count, most) = known.sent.entry(key.clone()).or_default();
        *count += 1;
        *most = may_be.max(*most);
        let (count, most) = (*count, *most);
        self.expect(count <= most, "I21", || {
            format!("{count} mails were sent to {key:?}, and {most} may be")
        });
    }

    /// Each mail was sent, refused for good, or canceled, which the audit checks; none waits.
    fn mails_ended(&mut self, known: &Known<'a>) {
        let end = self.end;
        for mail in known.owed.keys() {
            let is_stored = end.mails.contains_key(mail);
            self.expect(is_stored, "I19", || format!("mail {mail} is lost"));
        }
        for (mail, stored) in &end.mails {
            let is_owed = known.owed.contains_key(mail) || stored.operation.is_none();
            self.expect(is_owed, "I19", || format!("nobody owes mail {mail}"));
            let is_right = match stored.status {
                MailStatus::Sent => known.taken.contains(mail),
                MailStatus::Failed => known.refused.contains(mail),
                MailStatus::Canceled => true,
                MailStatus::Pending => false,
            };
            self.expect(is_right, "I19", || {
                format!("in the end mail {mail} is not what became of it: {stored:?}")
            });
        }
    }
}

impl Known<'_> {
    fn end_lease(&mut self, mail: MailId, token: i64) {
        let lease = self.leases.get(&mail);
        for it in lease
            .filter(|lease| lease.token == token)
            .iter()
            .flat_map(|it| &it.mails)
        {
            self.leased_until.remove(it);
        }
    }
}

/// The mailbox that an address leads to.
fn mailbox(address: &str) -> String {
    let address = address.to_ascii_lowercase();
    let (local, domain) = address.split_once('@').unwrap();
    let local = local.split_once('+').map_or(local, |(local, _)| local);
    format!("{local}@{domain}")
}
