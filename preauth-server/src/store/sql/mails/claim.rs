//! The claim of the mail that has been due for longest: it is leased, postponed or canceled.

use preauth_core::value::Timestamp;
use uuid::Uuid;

use crate::mail::{Claimed, LeasedMail, MailClaim, Turn, is_counted};
use crate::store::error::WriteError;
use crate::store::rows::{Columns, Corrupt};
use crate::store::set_aside::{LOOK_AGAIN, Unreadable};

use super::super::{Row, Session, query};
use super::due_mail::DueMail;
use super::{lease, share};

/// What a claim did.
pub(in crate::store) struct Step {
    pub(in crate::store) claimed: Claimed,
    /// The mail, if this build cannot read it.
    pub(in crate::store) unreadable: Option<Unreadable>,
    /// Mails that were due and are no longer.
    pub(in crate::store) postponed: Vec<Uuid>,
    /// Whether mails that went with it may be due by themselves.
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

/// Claims the mail of `row`. What cannot be read is set aside, so that what is due after it has its
/// turn.
pub(in crate::store) async fn claim(
    session: &mut dyn Session,
    row: &Row,
    claim: &MailClaim,
) -> Result<Step, WriteError> {
    let step = match DueMail::read(row) {
        Ok(due) => claim_due(session, &due, claim).await?,
        Err(cause) => Err(cause),
    };
    match step {
        Ok(step) => Ok(step),
        Err(cause) => put_aside(session, row, claim.now, cause).await,
    }
}

async fn claim_due(
    session: &mut dyn Session,
    due: &DueMail,
    claim: &MailClaim,
) -> Result<Result<Step, Corrupt>, WriteError> {
    if due.is_over {
        return Ok(Ok(cancel(session, due, claim.now).await?));
    }
    let (mut takes_others, mut opening, mut new_mailboxes) = (false, None, None);
    if is_counted(due.kind) && !due.has_place {
        let used = share::usage(session, due, claim).await?;
        match claim.turn(&used.usage, due.offer_ends) {
            Turn::At(later) => {
                let postponed = share::put_off(session, due, claim.now, later).await?;
                return Ok(Ok(Step {
                    postponed,
                    ..Step::from(Claimed::PutOff)
                }));
            }
            Turn::Now { is_last } => takes_others = is_last || due.is_held,
        }
        opening = used.opening;
        let is_new = used.usage.is_new;
        new_mailboxes = is_new.then(|| used.usage.new_mailboxes.saturating_add(1));
    }
    let Some(row) = lease::lease(session, due, claim, opening).await? else {
        return Ok(Ok(Claimed::PutOff.into()));
    };
    let joined = lease::lease_joined(session, due, claim, takes_others).await?;
    Ok(lease::leased(&row, &joined).map(|leased| {
        let leased = LeasedMail {
            new_mailboxes,
            ..leased
        };
        Claimed::Leased(Box::new(leased)).into()
    }))
}

/// Gives a mail up that nobody should read any more; the holder of its lease can no longer finish it.
async fn cancel(
    session: &mut dyn Session,
    due: &DueMail,
    now: Timestamp,
) -> Result<Step, WriteError> {
    let done = query(
        "UPDATE notices
         SET status = 'CANCELED', next_attempt_at = NULL, ended_at = $2, is_held = FALSE,
             leased_until = NULL
         WHERE id = $1 AND status || '' = 'PENDING'",
    )
    .bind(due.id.as_uuid())
    .bind(now.unix_millis())
    .execute(session)
    .await?;
    // What went with it goes on without it.
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
        _ => Claimed::Canceled { id, kind },
    };
    Ok(Step {
        frees_others: joined > 0,
        ..Step::from(claimed)
    })
}

/// Has a mail that cannot be read wait for a build that can.
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
