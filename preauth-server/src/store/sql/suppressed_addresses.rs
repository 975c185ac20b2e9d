//! Addresses whose readers want no mails about offers.

use async_trait::async_trait;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{Email, OperationId, SuppressionId, Timestamp};

use crate::directory::{Addressee, DirectoryError, Page, SuppressedAddress, SuppressedAddresses};
use crate::mail::mailbox;
use crate::store::error::{Fault, WriteError, one_row_or};
use crate::store::rows::{Columns, Corrupt, clamped};

use super::{Builder, Database, Listed, Row, Session, query, sql};

#[async_trait]
impl<D: Database> SuppressedAddresses for D {
    async fn addressee(&self, operation: OperationId) -> Result<Option<Addressee>, Unavailable> {
        let found = self.read(&operation, |session, operation| {
            Box::pin(addressee(session, *operation))
        });
        Ok(found.await?)
    }

    async fn suppress_addressee(
        &self,
        id: SuppressionId,
        operation: OperationId,
        at: Timestamp,
    ) -> Result<(), DirectoryError> {
        let suppressed = self.write((id, operation, at), |session, input| {
            Box::pin(suppress(session, input))
        });
        Ok(suppressed.await?)
    }

    async fn suppress_address(
        &self,
        id: SuppressionId,
        address: &Email,
        operation: OperationId,
        at: Timestamp,
    ) -> Result<(), DirectoryError> {
        let input = (id, mailbox(address), operation, at);
        let suppressed = self.write(input, |session, input| Box::pin(add(session, input)));
        Ok(suppressed.await?)
    }

    async fn suppressed_address(
        &self,
        id: SuppressionId,
    ) -> Result<Option<SuppressedAddress>, Unavailable> {
        let found = self.read(&id, |session, id| Box::pin(by_id(session, *id)));
        Ok(found.await?)
    }

    async fn suppressed_addresses(
        &self,
        address: Option<&Email>,
        page: PageRequest,
    ) -> Result<Page<SuppressedAddress>, Unavailable> {
        let input = (address.map(mailbox), page);
        let listed = self.read_snapshot(&input, |session, (mailbox, page)| {
            Box::pin(list(session, mailbox.as_deref(), *page))
        });
        Ok(listed.await?.page(self.set_aside(), entry))
    }

    async fn remove_suppressed_address(&self, id: SuppressionId) -> Result<(), DirectoryError> {
        let removed = self.write(id, |session, id| Box::pin(remove(session, *id)));
        Ok(removed.await?)
    }
}

async fn addressee(
    session: &mut dyn Session,
    operation: OperationId,
) -> Result<Option<Addressee>, Fault> {
    let row = query(sql!(
        "SELECT recipient,
             (SELECT 1 FROM suppressed_addresses s WHERE s.mailbox = "
                 { sqlite: "n.mailbox", postgres: "mailbox(n.recipient)" }
             " LIMIT 1) IS NOT NULL AS is_suppressed
         FROM notices n WHERE operation_id = $1"
    ))
    .bind(operation.get())
    .fetch_optional(session)
    .await?;
    let addressee = row.map(|row| {
        let columns = Columns::of("notices", &row);
        Ok::<_, Corrupt>(Addressee {
            address: columns.parsed("recipient")?,
            is_suppressed: columns.raw("is_suppressed")?,
        })
    });
    Ok(addressee.transpose()?)
}

async fn suppress(
    session: &mut dyn Session,
    (id, operation, at): &(SuppressionId, OperationId, Timestamp),
) -> Result<(), WriteError> {
    let done = query(sql!(
        "INSERT INTO suppressed_addresses (id, mailbox, operation_id, suppressed_at)
         SELECT $1, " MAILBOX ", operation_id, $3 FROM notices WHERE operation_id = $2
         ON CONFLICT (mailbox) DO NOTHING"
    ))
    .bind(id.as_uuid())
    .bind(operation.get())
    .bind(at.unix_millis())
    .execute(session)
    .await?;
    if done == 1 {
        return Ok(());
    }
    let known = addressee(session, *operation).await?;
    one_row_or(u64::from(known.is_some()), WriteError::NotFound)
}

async fn add(
    session: &mut dyn Session,
    (id, mailbox, operation, at): &(SuppressionId, String, OperationId, Timestamp),
) -> Result<(), WriteError> {
    let added = query(
        "INSERT INTO suppressed_addresses (id, mailbox, operation_id, suppressed_at)
         VALUES ($1, $2, $3, $4) ON CONFLICT (mailbox) DO NOTHING",
    );
    added
        .bind(id.as_uuid())
        .bind(mailbox.as_str())
        .bind(operation.get())
        .bind(at.unix_millis())
        .execute(session)
        .await?;
    Ok(())
}

async fn by_id(
    session: &mut dyn Session,
    id: SuppressionId,
) -> Result<Option<SuppressedAddress>, Fault> {
    let row = query(
        "SELECT id, mailbox, operation_id, suppressed_at FROM suppressed_addresses WHERE id = $1",
    )
    .bind(id.as_uuid())
    .fetch_optional(session)
    .await?;
    Ok(row.as_ref().map(entry).transpose()?)
}

async fn list(
    session: &mut dyn Session,
    mailbox: Option<&str>,
    page: PageRequest,
) -> Result<Listed, Fault> {
    let mut count = Builder::new("SELECT count(*) AS total FROM suppressed_addresses");
    restrict(&mut count, mailbox);
    let total = count.build().total(session).await?;
    let mut query =
        Builder::new("SELECT id, mailbox, operation_id, suppressed_at FROM suppressed_addresses");
    restrict(&mut query, mailbox);
    // The sign keeps the databases from walking through all addresses for the one that is searched for.
    query.push(match mailbox {
        None => " ORDER BY suppressed_at DESC, id DESC LIMIT ",
        Some(_) => " ORDER BY +suppressed_at DESC, id DESC LIMIT ",
    });
    query.bind(page.limit).push(" OFFSET ");
    query.bind(clamped(page.offset()));
    let rows = query.build().fetch_all(session).await?;
    Ok(Listed::whole(rows, total))
}

fn restrict<'q>(query: &mut Builder<'q>, mailbox: Option<&'q str>) {
    if let Some(mailbox) = mailbox {
        query.push(" WHERE mailbox = ").bind(mailbox);
    }
}

async fn remove(session: &mut dyn Session, id: SuppressionId) -> Result<(), WriteError> {
    let done = query("DELETE FROM suppressed_addresses WHERE id = $1")
        .bind(id.as_uuid())
        .execute(session)
        .await?;
    one_row_or(done, WriteError::NotFound)
}

pub(super) fn entry(row: &Row) -> Result<SuppressedAddress, Corrupt> {
    let columns = Columns::of("suppressed_addresses", row);
    Ok(SuppressedAddress {
        id: SuppressionId::new(columns.uuid("id")?),
        address: columns.parsed("mailbox")?,
        operation: columns.number("operation_id", OperationId::new)?,
        since: columns.timestamp("suppressed_at")?,
    })
}
