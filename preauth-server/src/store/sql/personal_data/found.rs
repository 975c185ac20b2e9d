//! What personal data there is.

use preauth_core::operation::InvoiceFile;
use preauth_core::value::{CompanyId, MailId, OperationId};

use crate::directory::{
    Company, Erasure, MAX_PERSONAL_RECORDS, PersonalData, PersonalMail, PersonalRecords,
    SuppressedAddress, ids_of,
};
use crate::store::error::Fault;
use crate::store::rows::{Columns, Corrupt, count, invitation, invoice_file, user};

use super::super::planner::read_in_index_order;
use super::super::suppressed_addresses::entry;
use super::super::{Row, Session, query, sql};

/// A side of a company's operations.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Supplier,
    Payer,
}

/// What some operations of a side hold.
pub(super) struct Held {
    /// Where the older ones begin: below this id; `None` if there are none.
    pub(super) below: Option<i64>,
    /// Operations in progress.
    pub(super) in_progress: u64,
    /// Mails to the supplier.
    pub(super) mails: u64,
    /// Invoice files.
    pub(super) files: u64,
}

/// Counts what the newest operations of a range hold, `$3` of them at most.
macro_rules! held {
    ($mail:literal, $range:literal) => {
        concat!(
            "SELECT count(*) AS walked, coalesce(min(o.id), 0) AS lowest,
                 count(CASE WHEN o.status NOT IN ('REPROVED', 'CONCLUDED') THEN 1 END) AS in_progress,
                 count(",
            $mail,
            ") AS mails,
                 count((SELECT 1 FROM invoice_files f WHERE f.operation_id = o.id LIMIT 1)) AS files
             FROM (SELECT id, status FROM operations WHERE ",
            $range,
            " LIMIT $3) AS o"
        )
    };
}

/// What the newest `limit` operations of a side below an id hold. The limit is one of operations, not of what is found:
/// of a million of them hardly any may have a mail or a file. Like those of an erasure's steps they are a range of an index
/// by the whole key.
pub(super) async fn held(
    session: &mut dyn Session,
    company: &Company,
    side: Side,
    (below, limit): (i64, u32),
) -> Result<Held, Fault> {
    read_in_index_order(session).await?;
    let (id, head_office) = ids_of(company);
    let row = match side {
        Side::Supplier => {
            let found = query(held!(
                "(SELECT 1 FROM notices n WHERE n.operation_id = o.id LIMIT 1)",
                "(supplier_cnpj, id) < ($1, $2) AND supplier_cnpj >= $1
                 ORDER BY supplier_cnpj DESC, id DESC"
            ));
            let found = found.bind(company.cnpj.as_str()).bind(below).bind(limit);
            found.fetch_one(session).await?
        }
        Side::Payer => {
            let found = query(held!(
                "NULL",
                "(head_office_id, payer_id, id) < ($4, $1, $2)
                   AND (head_office_id, payer_id) >= ($4, $1)
                 ORDER BY head_office_id DESC, payer_id DESC, id DESC"
            ));
            let found = found.bind(id.as_uuid()).bind(below).bind(limit);
            found.bind(head_office.as_uuid()).fetch_one(session).await?
        }
    };
    let columns = Columns::of("operations", &row);
    let number = |column| columns.raw(column).map(count);
    let lowest: i64 = columns.raw("lowest")?;
    Ok(Held {
        below: (number("walked")? >= u64::from(limit)).then_some(lowest),
        in_progress: number("in_progress")?,
        mails: number("mails")?,
        files: number("files")?,
    })
}

/// What there is; mails, files and what is in progress among the newest operations.
/// Whether a payment order of the company is open, as payer or as supplier.
pub(super) async fn has_open_orders(
    session: &mut dyn Session,
    company: CompanyId,
) -> Result<bool, Fault> {
    let open = query(
        "SELECT 1 AS one FROM payment_orders
         WHERE status IN ('CREATED', 'UNDER_REVIEW', 'SCHEDULED') AND (supplier_id = $1 OR payer_id = $1)
         LIMIT 1",
    );
    let open = open.bind(company.as_uuid()).fetch_optional(session).await?;
    Ok(open.is_some())
}

pub(super) async fn counts(
    session: &mut dyn Session,
    company: &Company,
) -> Result<PersonalData, Fault> {
    let newest = (i64::MAX, MAX_PERSONAL_RECORDS);
    let supplied = held(session, company, Side::Supplier, newest).await?;
    let paid = held(session, company, Side::Payer, newest).await?;
    let row = query(
        "SELECT (SELECT count(*) FROM supplier_invitations WHERE supplier_id = $1)
                + (SELECT count(*) FROM companies WHERE id = $1 AND contact_name IS NOT NULL) AS contacts,
            (SELECT count(*) FROM users WHERE company_id = $1 AND erased_at IS NULL) AS users,
            (SELECT count(*) FROM notices WHERE head_office_id = $1 AND operation_id IS NULL) AS mails,
            (SELECT count(*) FROM suppressed_addresses s
             WHERE (SELECT o.supplier_cnpj FROM operations o WHERE o.id = s.operation_id) = $2) AS suppressed,
            (SELECT count(*) FROM payment_orders
             WHERE status IN ('CREATED', 'UNDER_REVIEW', 'SCHEDULED') AND (supplier_id = $1 OR payer_id = $1))
                AS open_orders",
    )
    .bind(company.id.as_uuid())
    .bind(company.cnpj.as_str())
    .fetch_one(session)
    .await?;
    let columns = Columns::of("erasures", &row);
    let number = |column| columns.raw(column).map(count);
    Ok(PersonalData {
        contacts: number("contacts")?,
        users: number("users")?,
        mails: number("mails")?.saturating_add(supplied.mails),
        files: supplied.files.saturating_add(paid.files),
        suppressed_addresses: number("suppressed")?,
        operations_in_progress: supplied.in_progress.saturating_add(paid.in_progress),
        open_payment_orders: number("open_orders")?,
        erasures: erasures(session, company.id).await?,
    })
}

/// A company's erasures, newest first; there are few.
pub(super) async fn erasures(
    session: &mut dyn Session,
    company: CompanyId,
) -> Result<Vec<Erasure>, Fault> {
    let rows = query(
        "SELECT began_at, operator, completed_at, contacts, users, mails, files
         FROM erasures WHERE company_id = $1 ORDER BY began_at DESC LIMIT $2",
    )
    .bind(company.as_uuid())
    .bind(MAX_PERSONAL_RECORDS)
    .fetch_all(session)
    .await?;
    Ok(rows.iter().map(erasure).collect::<Result<_, _>>()?)
}

pub(super) fn erasure(row: &Row) -> Result<Erasure, Corrupt> {
    let columns = Columns::of("erasures", row);
    let number = |column| columns.raw(column).map(count);
    Ok(Erasure {
        began_at: columns.timestamp("began_at")?,
        operator: columns.parsed("operator")?,
        completed_at: columns.optional_timestamp("completed_at")?,
        contacts: number("contacts")?,
        users: number("users")?,
        mails: number("mails")?,
        files: number("files")?,
    })
}

pub(super) async fn records(
    session: &mut dyn Session,
    company: &Company,
) -> Result<PersonalRecords, Fault> {
    let (id, head_office) = ids_of(company);
    let invitations = query(
        "SELECT head_office_id, name, contact_name, contact_email, contact_phone, invited_at, confirmed_at
         FROM supplier_invitations WHERE supplier_id = $1 ORDER BY invited_at DESC LIMIT $2",
    );
    let invitations = invitations.bind(id.as_uuid()).bind(MAX_PERSONAL_RECORDS);
    let invitations = invitations.fetch_all(session).await?;
    let users = query(
        "SELECT id, company_id, name, email, permissions, active, created_at FROM users
         WHERE company_id = $1 AND erased_at IS NULL ORDER BY created_at DESC, id DESC LIMIT $2",
    );
    let users = users.bind(id.as_uuid()).bind(MAX_PERSONAL_RECORDS);
    let users = users.fetch_all(session).await?;
    let files = query(
        "SELECT o.id AS operation_id, f.name, f.media_type, f.size_bytes, f.sha256 FROM (
             SELECT * FROM (
                 SELECT o.id FROM operations o
                 WHERE o.supplier_cnpj = $2
                   AND (SELECT 1 FROM invoice_files f WHERE f.operation_id = o.id LIMIT 1) IS NOT NULL
                 ORDER BY o.id DESC LIMIT $4) AS supplied
             UNION ALL
             SELECT * FROM (
                 SELECT o.id FROM operations o
                 WHERE o.head_office_id = $3 AND o.payer_id = $1
                   AND (SELECT 1 FROM invoice_files f WHERE f.operation_id = o.id LIMIT 1) IS NOT NULL
                 ORDER BY o.id DESC LIMIT $4) AS paid) AS o
         JOIN invoice_files f ON f.operation_id = o.id ORDER BY o.id DESC LIMIT $4",
    );
    let files = files.bind(id.as_uuid()).bind(company.cnpj.as_str());
    let files = files.bind(head_office.as_uuid()).bind(MAX_PERSONAL_RECORDS);
    let files = files.fetch_all(session).await?;
    Ok(PersonalRecords {
        invitations: read(&invitations, invitation)?,
        users: read(&users, user)?,
        mails: mails(session, company).await?,
        files: read(&files, file)?,
        suppressed_addresses: suppressed(session, company).await?,
    })
}

async fn mails(session: &mut dyn Session, company: &Company) -> Result<Vec<PersonalMail>, Fault> {
    let rows = query(sql!(
        "SELECT * FROM (
             SELECT n.id, n.kind, n.operation_id, n.recipient, n.staged_at
             FROM operations o JOIN notices n ON n.operation_id = o.id
             WHERE o.supplier_cnpj = $2 ORDER BY o.id DESC LIMIT $3) AS offers
         UNION ALL
         SELECT * FROM (
             SELECT id, coalesce(variant, kind) AS kind, operation_id, recipient, staged_at FROM notices
             WHERE head_office_id = $1 AND operation_id IS NULL
             ORDER BY " { sqlite: "+id", postgres: "id::TEXT COLLATE \"C\"" } " DESC LIMIT $3) AS pauses"
    ));
    let rows = rows.bind(company.id.as_uuid()).bind(company.cnpj.as_str());
    let rows = rows.bind(MAX_PERSONAL_RECORDS).fetch_all(session).await?;
    read(&rows, mail)
}

async fn suppressed(
    session: &mut dyn Session,
    company: &Company,
) -> Result<Vec<SuppressedAddress>, Fault> {
    let rows = query(
        "SELECT s.id, s.mailbox, s.operation_id, s.suppressed_at FROM suppressed_addresses s
         WHERE (SELECT o.supplier_cnpj FROM operations o WHERE o.id = s.operation_id) = $1
         ORDER BY s.suppressed_at DESC, s.id DESC LIMIT $2",
    );
    let rows = rows.bind(company.cnpj.as_str()).bind(MAX_PERSONAL_RECORDS);
    read(&rows.fetch_all(session).await?, entry)
}

fn mail(row: &Row) -> Result<PersonalMail, Corrupt> {
    let columns = Columns::of("notices", row);
    let operation: Option<i64> = columns.raw("operation_id")?;
    Ok(PersonalMail {
        id: MailId::new(columns.uuid("id")?),
        kind: columns.parsed("kind")?,
        operation: operation.and_then(OperationId::new),
        recipient: columns.parsed("recipient")?,
        created_at: columns.timestamp("staged_at")?,
    })
}

fn file(row: &Row) -> Result<(OperationId, InvoiceFile), Corrupt> {
    let operation = Columns::of("invoice_files", row).number("operation_id", OperationId::new)?;
    Ok((operation, invoice_file(row)?))
}

/// Unlike a list, a copy leaves nothing out.
fn read<T>(rows: &[Row], record: impl Fn(&Row) -> Result<T, Corrupt>) -> Result<Vec<T>, Fault> {
    Ok(rows.iter().map(record).collect::<Result<_, _>>()?)
}
