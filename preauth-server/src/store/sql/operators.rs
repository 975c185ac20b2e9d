//! Named operators.

use async_trait::async_trait;
use preauth_core::port::{NewReply, PageRequest, Unavailable};
use preauth_core::value::{OperatorId, OperatorName, Timestamp};

use crate::access::{HashBeginning, KeyHash};
use crate::directory::{DirectoryError, Operator, Operators, Page};
use crate::store::error::{Fault, WriteError, one_row_or};
use crate::store::rows::{Columns, clamped, operator, operator_hash};

use super::{Database, Listed, Session, query, remember};

/// Every column of an operator but the token's hash.
macro_rules! operator_columns {
    () => {
        "id, name, role, created_at, created_by, valid_until, revoked_at, last_used_at"
    };
}

#[async_trait]
impl<D: Database> Operators for D {
    async fn add_operator(
        &self,
        operator: &Operator,
        token: &KeyHash,
        reply: Option<&NewReply>,
    ) -> Result<(), DirectoryError> {
        let input = (operator.clone(), *token, reply.cloned());
        let added = self.write(input, |session, (operator, token, reply)| {
            Box::pin(async move {
                ensure_name_is_free(session, &operator.name).await?;
                insert(session, operator, token).await?;
                remember(session, reply.as_ref(), operator.created_at).await
            })
        });
        Ok(added.await?)
    }

    async fn operator(&self, id: OperatorId) -> Result<Option<Operator>, Unavailable> {
        let found = self.read(&id, |session, id| Box::pin(by_id(session, *id)));
        Ok(found.await?)
    }

    async fn operators(&self, page: PageRequest) -> Result<Page<Operator>, Unavailable> {
        let listed = self.read_snapshot(&page, |session, page| Box::pin(list(session, *page)));
        Ok(listed.await?.page(self.set_aside(), operator))
    }

    async fn operator_of_token(
        &self,
        beginning: HashBeginning,
    ) -> Result<Option<(Operator, KeyHash)>, Unavailable> {
        let found = self.read(&beginning, |session, beginning| {
            Box::pin(of_token(session, *beginning))
        });
        Ok(found.await?)
    }

    async fn operator_hashes(
        &self,
        after: OperatorId,
        limit: u32,
    ) -> Result<Vec<(OperatorId, KeyHash)>, Unavailable> {
        let input = (after, limit);
        let found = self.read(&input, |session, (after, limit)| {
            Box::pin(hashes(session, *after, *limit))
        });
        Ok(found.await?)
    }

    async fn note_operator_use(&self, id: OperatorId, at: Timestamp) -> Result<(), Unavailable> {
        self.write_relaxed((id, at), |session, input| {
            Box::pin(note_use(session, input))
        })
        .await
    }

    async fn revoke_operator(
        &self,
        id: OperatorId,
        at: Timestamp,
    ) -> Result<Operator, DirectoryError> {
        let revoked = self.write((id, at), |session, input| Box::pin(revoke(session, input)));
        Ok(revoked.await?)
    }
}

/// Refuses a name that looks the same as one that was ever given. SQL has no such comparison, and
/// operators are few.
async fn ensure_name_is_free(
    session: &mut dyn Session,
    name: &OperatorName,
) -> Result<(), WriteError> {
    // One addition at a time: each sees the names of those before.
    query("SELECT pg_advisory_xact_lock(hashtextextended('names of operators', 0))")
        .lock(session)
        .await?;
    let names = query("SELECT name FROM operators");
    let rows = names.fetch_all(session).await?;
    let compared = name.compared();
    let is_taken = rows.iter().any(|row| {
        // A name that cannot be read is no reason to add nobody.
        let given = Columns::of("operators", row).parsed::<OperatorName>("name");
        given.is_ok_and(|given| given.compared() == compared)
    });
    one_row_or(u64::from(!is_taken), WriteError::Conflict)
}

async fn insert(
    session: &mut dyn Session,
    operator: &Operator,
    token: &KeyHash,
) -> Result<(), WriteError> {
    let done = query(
        "INSERT INTO operators (id, name, role, token_hash, created_at, created_by, valid_until,
             revoked_at, last_used_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(operator.id.as_uuid())
    .bind(operator.name.as_str())
    .bind(operator.role.as_str())
    .bind(token.0.as_slice())
    .bind(operator.created_at.unix_millis())
    .bind(operator.created_by.as_str())
    .bind(operator.valid_until.map(Timestamp::unix_millis))
    .bind(operator.revoked_at.map(Timestamp::unix_millis))
    .bind(operator.last_used_at.map(Timestamp::unix_millis))
    .execute(session)
    .await?;
    one_row_or(done, WriteError::Conflict)
}

pub(super) async fn by_id(
    session: &mut dyn Session,
    id: OperatorId,
) -> Result<Option<Operator>, Fault> {
    let row = query(concat!(
        "SELECT ",
        operator_columns!(),
        " FROM operators WHERE id = $1"
    ))
    .bind(id.as_uuid())
    .fetch_optional(session)
    .await?;
    Ok(row.as_ref().map(operator).transpose()?)
}

async fn list(session: &mut dyn Session, page: PageRequest) -> Result<Listed, Fault> {
    let total = query("SELECT count(*) AS total FROM operators")
        .total(session)
        .await?;
    let rows = query(concat!(
        "SELECT ",
        operator_columns!(),
        " FROM operators ORDER BY created_at DESC, id DESC LIMIT $1 OFFSET $2"
    ))
    .bind(page.limit)
    .bind(clamped(page.offset()))
    .fetch_all(session)
    .await?;
    Ok(Listed::whole(rows, total))
}

/// Finds a token by a range of the hashes.
async fn of_token(
    session: &mut dyn Session,
    HashBeginning(beginning): HashBeginning,
) -> Result<Option<(Operator, KeyHash)>, Fault> {
    let filled = |byte: u8| {
        let mut hash = [byte; 32];
        for (place, byte) in hash.iter_mut().zip(beginning) {
            *place = byte;
        }
        hash.to_vec()
    };
    let row = query(concat!(
        "SELECT token_hash, ",
        operator_columns!(),
        " FROM operators WHERE token_hash BETWEEN $1 AND $2 LIMIT 1"
    ))
    .bind(filled(u8::MIN))
    .bind(filled(u8::MAX))
    .fetch_optional(session)
    .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let (_, hash) = operator_hash(&row)?;
    Ok(Some((operator(&row)?, hash)))
}

async fn hashes(
    session: &mut dyn Session,
    after: OperatorId,
    limit: u32,
) -> Result<Vec<(OperatorId, KeyHash)>, Fault> {
    let rows = query("SELECT id, token_hash FROM operators WHERE id > $1 ORDER BY id LIMIT $2")
        .bind(after.as_uuid())
        .bind(limit)
        .fetch_all(session)
        .await?;
    Ok(rows.iter().map(operator_hash).collect::<Result<_, _>>()?)
}

/// A later use that was recorded first stays.
async fn note_use(
    session: &mut dyn Session,
    (id, at): &(OperatorId, Timestamp),
) -> Result<(), WriteError> {
    query(
        "UPDATE operators SET last_used_at = $2
         WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)",
    )
    .bind(id.as_uuid())
    .bind(at.unix_millis())
    .execute(session)
    .await?;
    Ok(())
}

async fn revoke(
    session: &mut dyn Session,
    (id, at): &(OperatorId, Timestamp),
) -> Result<Operator, WriteError> {
    let row = query(concat!(
        "UPDATE operators SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 RETURNING ",
        operator_columns!()
    ))
    .bind(id.as_uuid())
    .bind(at.unix_millis())
    .fetch_optional(session)
    .await?;
    Ok(operator(row.as_ref().ok_or(WriteError::NotFound)?)?)
}
