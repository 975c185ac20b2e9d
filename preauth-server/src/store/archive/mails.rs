//! Mails: each with its subject; the sent ones, by address; and offers without a mail.

use preauth_core::port::{NotifiedOffer, OfferWithoutMail, Record, SentMail, StoredMail, Subject};
use preauth_core::value::{CompanyId, MailId, OperationId};

use crate::store::rows::{Columns, Corrupt, RawRow};

use super::pages::operation_subject;
use super::stage::{Page, Stage};
use super::{read_of, readable, without_key};

/// Mails with their operations.
pub(in crate::store) fn mails<R: RawRow>(rows: &[R], stage: &Stage, limit: u32) -> Page {
    let id = |row: &R| Columns::of("notices", row).uuid("id");
    let (rows, next) = stage.after_rows(rows, limit, |row| id(row).map(Stage::Mails));
    let record = |row: &R| {
        let id = id(row).map_err(|it| without_key("a mail", it))?;
        let stored = readable(mail(row)).map(|stored| Record::Mail(Box::new(stored)));
        read_of(Subject::Mail(MailId::new(id)), stored)
    };
    (rows.iter().map(record).collect(), next)
}

/// The mails that count towards the share of a mailbox, among the rows of sent mails.
pub(in crate::store) fn sent<R: RawRow>(rows: &[R], stage: &Stage, limit: u32) -> Page {
    let at = |row: &R| {
        let columns = Columns::of("notices", row);
        Ok(Stage::Sent(
            columns.raw("mailbox")?,
            columns.raw("ended_at")?,
            columns.uuid("id")?,
        ))
    };
    let (rows, next) = stage.after_rows(rows, limit, at);
    let is_counted = |row: &&R| Columns::of("notices", *row).raw("is_counted") == Ok(true);
    let record = |row: &R| {
        let id = Columns::of("notices", row).uuid("id");
        let id = MailId::new(id.map_err(|it| without_key("a mail", it))?);
        read_of(
            Subject::Mail(id),
            readable(sent_mail(row, id)).map(Record::Sent),
        )
    };
    (rows.iter().filter(is_counted).map(record).collect(), next)
}

/// The offers without a mail, among the rows of operations.
pub(in crate::store) fn offers_without_mail(
    rows: &[impl RawRow],
    stage: &Stage,
    limit: u32,
) -> Result<Page, Corrupt> {
    let Some(last) = rows.last() else {
        return Ok((Vec::new(), stage.after()));
    };
    let last = Stage::OffersWithoutMail(Columns::of("operations", last).raw("id")?);
    let mut records = Vec::new();
    for row in rows {
        let columns = Columns::of("operations", row);
        if columns.raw("is_without_mail")? {
            let offer = readable(offer_without_mail(row)).map(Record::OfferWithoutMail);
            records.push(read_of(operation_subject(columns.raw("id")?), offer));
        }
    }
    Ok((records, stage.next(rows.len(), limit, last)))
}

fn mail(row: &impl RawRow) -> Result<StoredMail, Corrupt> {
    let columns = Columns::of("notices", row);
    let operation: Option<i64> = columns.raw("operation_id")?;
    let is_known: bool = columns.raw("is_known")?;
    let offer = is_known.then(|| notified_offer(row)).transpose()?;
    Ok(StoredMail {
        id: MailId::new(columns.uuid("id")?),
        head_office: CompanyId::new(columns.uuid("head_office_id")?),
        kind: columns.parsed("kind")?,
        operation: operation.and_then(OperationId::new).map(|id| (id, offer)),
        has_endpoint: columns.raw("has_endpoint")?,
        status: columns.parsed("status")?,
        is_held: columns.raw("is_held")?,
        is_suppressed: columns.raw("is_suppressed")?,
        staged_at: columns.timestamp("staged_at")?,
        next_attempt_at: columns.optional_timestamp("next_attempt_at")?,
        ended_at: columns.optional_timestamp("ended_at")?,
        attempts_made: columns.raw("attempts_made")?,
        has_error: columns.raw("has_error")?,
        leased_until: columns.optional_timestamp("leased_until")?,
    })
}

fn notified_offer(row: &impl RawRow) -> Result<NotifiedOffer, Corrupt> {
    let columns = Columns::of("operations", row);
    Ok(NotifiedOffer {
        head_office: CompanyId::new(columns.uuid("offer_head_office_id")?),
        origin: columns.parsed("origin")?,
        created_at: columns.timestamp("created_at")?,
        status: columns.parsed("offer_status")?,
        expires_at: columns.optional_timestamp("expires_at")?,
    })
}

fn sent_mail(row: &impl RawRow, id: MailId) -> Result<SentMail, Corrupt> {
    let columns = Columns::of("notices", row);
    Ok(SentMail {
        id,
        mailbox: columns.raw("mailbox")?,
        address: columns.raw("address")?,
        at: columns.timestamp("ended_at")?,
    })
}

fn offer_without_mail(row: &impl RawRow) -> Result<OfferWithoutMail, Corrupt> {
    let columns = Columns::of("operations", row);
    Ok(OfferWithoutMail {
        operation: columns.number("id", OperationId::new)?,
        created_at: columns.timestamp("created_at")?,
        erased_at: columns.optional_timestamp("erased_at")?,
    })
}
