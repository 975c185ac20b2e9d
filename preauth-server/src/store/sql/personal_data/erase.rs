//! The erasure of a company's personal data, in steps that are derived from its row.

use preauth_core::value::{CompanyId, OperatorName, Timestamp};

use crate::directory::{Company, ERASED_DOMAIN, Erasure, ids_of};
use crate::store::error::WriteError;
use crate::store::rows::{Columns, clamped};

use super::super::planner::read_in_index_order;
use super::super::{Row, Session, query, sql};
use super::files;
use super::found::{self, Side, erasure};

/// Operations whose mails and files one step removes.
const BATCH: u32 = 200;
/// Newest operations of a side that are looked at when an erasure begins: what was made since it was found out that
/// nothing is in progress.
const NEWEST: u32 = 200;
/// What an erased user is called.
const NOBODY: &str = "Dados apagados";

/// Begins an erasure; everything but the mails and files of operations is erased at once. Whether anything is left, and
/// nothing in progress, was found out before; `None` means that an erasure was incomplete, which is then the answer.
pub(super) async fn begin(
    session: &mut dyn Session,
    (company, operator, at, is_left): &(Company, OperatorName, Timestamp, Option<bool>),
) -> Result<Erasure, WriteError> {
    let id = company.id;
    let last = match found::erasures(session, id).await?.into_iter().next() {
        Some(last) if last.completed_at.is_none() || is_left.is_none() => return Ok(last),
        last => last,
    };
    if found::has_open_orders(session, id).await? {
        return Err(WriteError::Conflict);
    }
    for side in [Side::Supplier, Side::Payer] {
        let newest = found::held(session, company, side, (i64::MAX, NEWEST)).await?;
        if newest.in_progress > 0 {
            return Err(WriteError::Conflict);
        }
    }
    if let Some(last) = last.filter(|_| *is_left != Some(true)) {
        return Ok(last);
    }
    let done = query(
        "INSERT INTO erasures (company_id, began_at, operator) VALUES ($1, $2, $3)
         ON CONFLICT (company_id, began_at) DO NOTHING",
    );
    let done = done.bind(id.as_uuid()).bind(at.unix_millis());
    done.bind(operator.as_str()).execute(session).await?;
    let contacts = erase_contacts(session, id, *at).await?;
    let users = erase_users(session, id, *at).await?;
    let mails = query("DELETE FROM notices WHERE head_office_id = $1 AND operation_id IS NULL");
    let mails = mails.bind(id.as_uuid()).execute(session).await?;
    let row = query(
        "UPDATE erasures SET contacts = contacts + $3, users = users + $4, mails = mails + $5
         WHERE company_id = $1 AND began_at = $2
         RETURNING began_at, operator, completed_at, contacts, users, mails, files",
    );
    let row = row.bind(id.as_uuid()).bind(at.unix_millis());
    let row = row.bind(clamped(contacts)).bind(clamped(users));
    let row = row.bind(clamped(mails)).fetch_one(session).await?;
    Ok(erasure(&row)?)
}

/// The names stay, where records of business find them. A head office that invites the supplier again does so
/// as if for the first time.
async fn erase_contacts(
    session: &mut dyn Session,
    company: CompanyId,
    at: Timestamp,
) -> Result<u64, WriteError> {
    query(
        "INSERT INTO erased_invitations (supplier_id, head_office_id, name, erased_at)
         SELECT supplier_id, head_office_id, name, $2 FROM supplier_invitations WHERE supplier_id = $1
         ON CONFLICT (supplier_id, head_office_id)
             DO UPDATE SET name = excluded.name, erased_at = excluded.erased_at",
    )
    .bind(company.as_uuid())
    .bind(at.unix_millis())
    .execute(session)
    .await?;
    // Not one that was added meanwhile, whose name was not kept.
    let invitations = query(
        "DELETE FROM supplier_invitations
         WHERE supplier_id = $1
           AND (SELECT 1 FROM erased_invitations e
                WHERE e.supplier_id = supplier_invitations.supplier_id
                  AND e.head_office_id = supplier_invitations.head_office_id AND e.erased_at = $2) IS NOT NULL",
    )
    .bind(company.as_uuid())
    .bind(at.unix_millis())
    .execute(session)
    .await?;
    let own = query(
        "UPDATE companies SET contact_name = NULL, contact_email = NULL, contact_phone = NULL
         WHERE id = $1 AND contact_name IS NOT NULL",
    );
    let own = own.bind(company.as_uuid()).execute(session).await?;
    Ok(invitations.saturating_add(own))
}

/// Keys and events still refer to the rows. Nobody acts in the name of a person who is not known, so that keys are
/// refused.
async fn erase_users(
    session: &mut dyn Session,
    company: CompanyId,
    at: Timestamp,
) -> Result<u64, WriteError> {
    let done = query(sql!(
        "UPDATE users SET name = $3, active = FALSE, erased_at = $2,
             email = " { sqlite: "lower(hex(id))", postgres: "id::TEXT" } " || '@' || $4
         WHERE company_id = $1 AND erased_at IS NULL"
    ))
    .bind(company.as_uuid())
    .bind(at.unix_millis())
    .bind(NOBODY)
    .bind(ERASED_DOMAIN)
    .execute(session)
    .await?;
    // What the requests that added them would answer again.
    query("DELETE FROM platform_replies WHERE body LIKE $1")
        .bind(format!(r#"%"companyId":"{company}"%"email":%"#))
        .execute(session)
        .await?;
    Ok(done)
}

/// Removes mails and files of the next operations; completes the erasure when there are none.
pub(super) async fn step(
    session: &mut dyn Session,
    (company, began_at, at): &(Company, Timestamp, Timestamp),
) -> Result<Erasure, WriteError> {
    let row = query(sql!(
        "SELECT began_at, operator, completed_at, contacts, users, mails, files, walked_as_supplier,
                walked_as_payer
         FROM erasures WHERE company_id = $1 AND began_at = $2" LOCKED
    ));
    let row = row.bind(company.id.as_uuid()).bind(began_at.unix_millis());
    let row = row.fetch_optional(session).await?;
    let row = row.ok_or(WriteError::NotFound)?;
    let begun = erasure(&row)?;
    if begun.completed_at.is_some() {
        return Ok(begun);
    }
    for side in [Side::Supplier, Side::Payer] {
        let next = next_operations(session, company, side, &row, *began_at).await?;
        if let Some(upto) = next.upto {
            let removed = remove(session, side, &next.ended).await?;
            return note(session, company.id, *began_at, (side, upto), removed).await;
        }
    }
    let row = query(
        "UPDATE erasures SET completed_at = $3 WHERE company_id = $1 AND began_at = $2
         RETURNING began_at, operator, completed_at, contacts, users, mails, files",
    );
    let row = row.bind(company.id.as_uuid()).bind(began_at.unix_millis());
    let row = row.bind(at.unix_millis()).fetch_one(session).await?;
    Ok(erasure(&row)?)
}

struct Next {
    /// The last one; `None` when there is none.
    upto: Option<i64>,
    /// Those that ended, and began before the erasure.
    ended: Vec<i64>,
}

/// Ranges of an index by the whole key, so that it is read in its order whatever the statistics.
async fn next_operations(
    session: &mut dyn Session,
    company: &Company,
    side: Side,
    erasure: &Row,
    began_at: Timestamp,
) -> Result<Next, WriteError> {
    read_in_index_order(session).await?;
    let walked = Columns::of("erasures", erasure);
    let (id, head_office) = ids_of(company);
    let next = match side {
        Side::Supplier => query(
            "SELECT id, status IN ('CONCLUDED', 'REPROVED') AND created_at <= $3 AS has_ended
             FROM operations WHERE (supplier_cnpj, id) > ($1, $2) AND supplier_cnpj <= $1
             ORDER BY supplier_cnpj, id LIMIT $4",
        )
        .bind(company.cnpj.as_str())
        .bind(walked.raw::<i64>("walked_as_supplier")?),
        Side::Payer => query(
            "SELECT id, status IN ('CONCLUDED', 'REPROVED') AND created_at <= $3 AS has_ended
             FROM operations
             WHERE (head_office_id, payer_id, id) > ($5, $1, $2) AND (head_office_id, payer_id) <= ($5, $1)
             ORDER BY head_office_id, payer_id, id LIMIT $4",
        )
        .bind(id.as_uuid())
        .bind(walked.raw::<i64>("walked_as_payer")?),
    };
    let next = next.bind(began_at.unix_millis()).bind(BATCH);
    let next = match side {
        Side::Supplier => next,
        Side::Payer => next.bind(head_office.as_uuid()),
    };
    let rows = next.fetch_all(session).await?;
    let mut found = Next {
        upto: None,
        ended: Vec::new(),
    };
    for row in &rows {
        let columns = Columns::of("operations", row);
        let operation = columns.raw("id")?;
        found.upto = Some(operation);
        if columns.raw("has_ended")? {
            found.ended.push(operation);
        }
    }
    Ok(found)
}

/// Removes the files of these operations, and the mails to their supplier if that is the company: returns the numbers of
/// mails and files.
async fn remove(
    session: &mut dyn Session,
    side: Side,
    operations: &[i64],
) -> Result<(u64, u64), WriteError> {
    let mut mails = 0_u64;
    if let Side::Supplier = side {
        for operation in operations {
            // A mail of another operation that was joined to it waits on its own again.
            query(
                "UPDATE notices SET joined_to = NULL, is_held = TRUE, leased_until = NULL
                 WHERE status || '' = 'PENDING' AND joined_to =
                     (SELECT id FROM notices WHERE operation_id = $1)",
            )
            .bind(*operation)
            .execute(session)
            .await?;
            let gone = query("DELETE FROM notices WHERE operation_id = $1");
            let gone = gone.bind(*operation).execute(session).await?;
            mails = mails.saturating_add(gone);
        }
    }
    let files = files::remove(session, operations.iter().copied(), files::LONG_AGO).await?;
    Ok((mails, files))
}

async fn note(
    session: &mut dyn Session,
    company: CompanyId,
    began_at: Timestamp,
    (side, upto): (Side, i64),
    (mails, files): (u64, u64),
) -> Result<Erasure, WriteError> {
    let (as_supplier, as_payer) = match side {
        Side::Supplier => (Some(upto), None),
        Side::Payer => (None, Some(upto)),
    };
    let row = query(
        "UPDATE erasures
         SET walked_as_supplier = coalesce($3, walked_as_supplier),
             walked_as_payer = coalesce($4, walked_as_payer), mails = mails + $5, files = files + $6
         WHERE company_id = $1 AND began_at = $2
         RETURNING began_at, operator, completed_at, contacts, users, mails, files",
    );
    let row = row.bind(company.as_uuid()).bind(began_at.unix_millis());
    let row = row.bind(as_supplier).bind(as_payer);
    let row = row.bind(clamped(mails)).bind(clamped(files));
    Ok(erasure(&row.fetch_one(session).await?)?)
}
