//! Claims due mails: each is leased, postponed or canceled.

use std::collections::{BTreeMap, HashMap};
use std::mem;

use preauth_core::value::{CompanyId, Timestamp};
use uuid::Uuid;

use crate::mail::{Cancellation, Claimed, LeasedMail, MailClaim, Turn, is_counted};
use crate::store::error::WriteError;
use crate::store::full_mailboxes::FullMailboxes;
use crate::store::rows::{Columns, Corrupt};
use crate::store::set_aside::{LOOK_AGAIN, Unreadable};

use super::super::{Row, Session, query};
use super::due_mail::DueMail;
use super::lease;
use super::share::{self, Opening};

/// The outcome of a claim for one mail.
pub(in crate::store) struct Step {
    pub(in crate::store) claimed: Claimed,
    /// The mail, if this build cannot read it.
    pub(in crate::store) unreadable: Option<Unreadable>,
    /// Mails that were due and have been postponed.
    pub(in crate::store) postponed: Vec<Uuid>,
    /// Whether mails that were joined to it may now be due on their own.
    pub(in crate::store) frees_others: bool,
}

impl From<Claimed> for Step {
    fn from(claimed: Claimed) -> Self {
        Self {
            claimed,
            unreadable: None,
            postponed: Vec::new(),
            frees_others: false,
        }
    }
}

/// A mail that may be sent now.
struct Chosen<'r> {
    row: &'r Row,
    due: DueMail,
    /// Whether other waiting mails are joined to it.
    takes_others: bool,
    opening: Option<Opening>,
    new_mailboxes: Option<u64>,
}

/// Claims the mails of `rows`, each to another mailbox; the steps are in no order. An unreadable mail is
/// set aside, so that it does not block the mails after it. Mailboxes that got their mails of the day are
/// noted in `full`.
pub(in crate::store) async fn claim(
    session: &mut dyn Session,
    rows: &[Row],
    claim: &MailClaim,
    full: &FullMailboxes,
) -> Result<Vec<Step>, WriteError> {
    let (mut steps, mut due) = (Vec::with_capacity(rows.len()), Vec::new());
    for row in rows {
        match DueMail::read(row) {
            Ok(mail) if mail.is_over => {
                steps.push(cancel(session, &mail, claim.now, Cancellation::OfferClosed).await?);
            }
            Ok(mail) if mail.is_suppressed && is_counted(mail.kind) => {
                let reason = Cancellation::AddressSuppressed;
                steps.push(cancel(session, &mail, claim.now, reason).await?);
            }
            Ok(mail) => due.push((row, mail)),
            Err(cause) => steps.push(put_aside(session, row, claim.now, cause).await?),
        }
    }
    let chosen = choose(session, due, claim, full, &mut steps).await?;
    let mails: Vec<_> = chosen.iter().map(|it| (it.due.id, it.opening)).collect();
    let mut leased = HashMap::new();
    for row in lease::lease(session, &mails, claim).await? {
        leased.insert(Columns::of("notices", &row).uuid("id")?, row);
    }
    for mail in chosen {
        steps.push(match leased.remove(mail.due.id.as_uuid()) {
            Some(row) => take(session, &mail, &row, claim).await?,
            None => Claimed::PutOff.into(),
        });
    }
    Ok(steps)
}

/// The mails that may be sent now. The others are postponed.
async fn choose<'r>(
    session: &mut dyn Session,
    due: Vec<(&'r Row, DueMail)>,
    claim: &MailClaim,
    full: &FullMailboxes,
    steps: &mut Vec<Step>,
) -> Result<Vec<Chosen<'r>>, WriteError> {
    let counted = due.iter().map(|(_, mail)| mail);
    let counted: Vec<_> = counted.filter(|mail| mail.needs_place()).collect();
    let mut used = share::usage(session, &counted, claim).await?.into_iter();
    // Number of mailboxes that this claim opens for each head office.
    let mut opened: HashMap<CompanyId, u32> = HashMap::new();
    let mut chosen = Vec::with_capacity(due.len());
    let mut waiting: BTreeMap<Timestamp, Vec<DueMail>> = BTreeMap::new();
    for (row, due) in due {
        let (mut takes_others, mut opening, mut new_mailboxes) = (false, None, None);
        if due.needs_place()
            && let Some(used) = used.next()
        {
            let opened = opened.entry(due.head_office).or_default();
            let used = used.after(*opened);
            match claim.turn(&used.usage, due.offer_ends) {
                Turn::At(later) => {
                    // Until then no place becomes free, unless a mail fails.
                    if later == claim.share.ends {
                        full.note(due.head_office, due.mailbox.clone(), claim);
                    }
                    waiting.entry(later).or_default().push(due);
                    continue;
                }
                Turn::Now { is_last } => takes_others = is_last || due.is_held,
            }
            opening = used.opening;
            *opened = opened.saturating_add(u32::from(opening.is_some()));
            let is_new = used.usage.is_new;
            new_mailboxes = is_new.then(|| used.usage.new_mailboxes.saturating_add(1));
        }
        chosen.push(Chosen {
            row,
            due,
            takes_others,
            opening,
            new_mailboxes,
        });
    }
    for (later, mails) in waiting {
        let mut postponed = share::put_off(session, &mails, claim.now, later).await?;
        steps.extend(mails.iter().map(|_| Step {
            postponed: mem::take(&mut postponed),
            ..Step::from(Claimed::PutOff)
        }));
    }
    Ok(chosen)
}

/// Returns a leased mail, and leases the mails that are joined to it.
async fn take(
    session: &mut dyn Session,
    mail: &Chosen<'_>,
    row: &Row,
    claim: &MailClaim,
) -> Result<Step, WriteError> {
    let mut joined = Vec::new();
    if mail.takes_others || mail.due.has_joined {
        joined = lease::lease_joined(session, &mail.due, claim, mail.takes_others).await?;
    }
    match lease::leased(row, &joined) {
        Ok(leased) => {
            let new_mailboxes = mail.new_mailboxes;
            let leased = LeasedMail {
                new_mailboxes,
                ..leased
            };
            Ok(Claimed::Leased(Box::new(leased)).into())
        }
        Err(cause) => put_aside(session, mail.row, claim.now, cause).await,
    }
}

/// Cancels a mail that nobody is to read any more; the holder of its lease can no longer finish it.
async fn cancel(
    session: &mut dyn Session,
    due: &DueMail,
    now: Timestamp,
    reason: Cancellation,
) -> Result<Step, WriteError> {
    let done = query(
        "UPDATE notices
         SET status = 'CANCELED', next_attempt_at = NULL, ended_at = $2, is_held = FALSE,
             leased_until = NULL, is_suppressed = $3
         WHERE id = $1 AND status || '' = 'PENDING'",
    )
    .bind(due.id.as_uuid())
    .bind(now.unix_millis())
    .bind(reason == Cancellation::AddressSuppressed)
    .execute(session)
    .await?;
    // The mails that were joined to it wait on their own again.
    let joined = query(
        "UPDATE notices SET joined_to = NULL, is_held = TRUE, leased_until = NULL
         WHERE joined_to = $1 AND status || '' = 'PENDING'",
    )
    .bind(due.id.as_uuid())
    .execute(session)
    .await?;
    let (id, kind) = (due.id, due.kind);
    let claimed = match done {
        0 => Claimed::PutOff,
        _ => Claimed::Canceled { id, kind, reason },
    };
    Ok(Step {
        frees_others: joined > 0,
        ..Step::from(claimed)
    })
}

/// Postpones an unreadable mail until a build may be able to read it.
async fn put_aside(
    session: &mut dyn Session,
    row: &Row,
    now: Timestamp,
    cause: Corrupt,
) -> Result<Step, WriteError> {
    let id = Columns::of("notices", row).uuid("id")?;
    query("UPDATE notices SET leased_until = NULL, next_attempt_at = $2 WHERE id = $1")
        .bind(id)
        .bind(now.saturating_add(LOOK_AGAIN).unix_millis())
        .execute(session)
        .await?;
    query(
        "UPDATE notices SET joined_to = NULL, leased_until = NULL
         WHERE joined_to = $1 AND status || '' = 'PENDING'",
    )
    .bind(id)
    .execute(session)
    .await?;
    Ok(Step {
        unreadable: Some(Unreadable::new(id, cause)),
        frees_others: true,
        ..Step::from(Claimed::PutOff)
    })
}
