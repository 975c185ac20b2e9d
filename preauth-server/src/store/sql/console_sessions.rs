//! Sessions of the operators' console.

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::Timestamp;

use crate::access::KeyHash;
use crate::directory::{ConsoleSession, ConsoleSessions, DirectoryError, Operator, SessionHolder};
use crate::store::error::{Fault, WriteError, one_row_or};
use crate::store::rows::console_session;

use super::{Database, Session, operators, query, sql};

#[async_trait]
impl<D: Database> ConsoleSessions for D {
    async fn open_session(&self, session: &ConsoleSession) -> Result<(), DirectoryError> {
        let opened = self.write(*session, |session, opened| {
            Box::pin(insert(session, opened))
        });
        Ok(opened.await?)
    }

    async fn session(
        &self,
        secret: KeyHash,
    ) -> Result<Option<(ConsoleSession, Option<Operator>)>, Unavailable> {
        let found = self.read_snapshot(&secret, |session, secret| Box::pin(find(session, *secret)));
        Ok(found.await?)
    }

    async fn end_session(&self, secret: KeyHash) -> Result<(), DirectoryError> {
        let ended = self.write(secret, |session, secret| Box::pin(delete(session, *secret)));
        Ok(ended.await?)
    }

    async fn forget_expired_sessions(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<u64, Unavailable> {
        self.write_relaxed((now, limit), |session, input| {
            Box::pin(forget(session, input))
        })
        .await
    }
}

async fn insert(session: &mut dyn Session, opened: &ConsoleSession) -> Result<(), WriteError> {
    let (operator, proof) = match opened.holder {
        SessionHolder::Root { proof } => (None, Some(proof)),
        SessionHolder::Named(id) => (Some(id), None),
    };
    let done = query(
        "INSERT INTO console_sessions (secret_hash, operator_id, root_proof, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(opened.secret.0.as_slice())
    .bind(operator.map(|id| *id.as_uuid()))
    .bind(proof.map(|proof| proof.to_vec()))
    .bind(opened.created_at.unix_millis())
    .bind(opened.expires_at.unix_millis())
    .execute(session)
    .await?;
    one_row_or(done, WriteError::Conflict)
}

async fn find(
    session: &mut dyn Session,
    secret: KeyHash,
) -> Result<Option<(ConsoleSession, Option<Operator>)>, Fault> {
    let row = query(
        "SELECT secret_hash, operator_id, root_proof, created_at, expires_at
         FROM console_sessions WHERE secret_hash = $1",
    )
    .bind(secret.0.as_slice())
    .fetch_optional(session)
    .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let found = console_session(&row)?;
    let operator = match found.holder {
        SessionHolder::Root { .. } => None,
        SessionHolder::Named(id) => operators::by_id(session, id).await?,
    };
    Ok(Some((found, operator)))
}

async fn delete(session: &mut dyn Session, secret: KeyHash) -> Result<(), WriteError> {
    query("DELETE FROM console_sessions WHERE secret_hash = $1")
        .bind(secret.0.as_slice())
        .execute(session)
        .await?;
    Ok(())
}

async fn forget(
    session: &mut dyn Session,
    (now, limit): &(Timestamp, u32),
) -> Result<u64, WriteError> {
    let done = query(sql!(
        "DELETE FROM console_sessions WHERE secret_hash" AMONG "
             SELECT secret_hash FROM console_sessions WHERE expires_at <= $1
             ORDER BY expires_at LIMIT $2" THESE
    ))
    .bind(now.unix_millis())
    .bind(*limit)
    .execute(session)
    .await?;
    Ok(done)
}
