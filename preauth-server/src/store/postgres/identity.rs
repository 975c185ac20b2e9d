//! The identity of the database, and where its row was written.

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use sqlx::PgConnection;

use crate::hold::{Deployment, DeploymentId, Identity};
use crate::store::error::{Fault, WriteError, unavailable};

use super::rows::Columns;
use super::{PostgresStore, sequences};

/// The transaction of the row, as the database itself records it, shows where the row was written.
const READ: &str = "SELECT id, is_given,
            place = (SELECT oid::TEXT FROM pg_database WHERE datname = current_database())
                || '/' || tableoid::TEXT || '/' || xmin::TEXT AS is_in_place
     FROM deployment";

const CLAIM: &str = "INSERT INTO deployment (id, is_given, place)
     SELECT $1, $2, oid::TEXT || '/' || 'deployment'::REGCLASS::OID::TEXT
         || '/' || (txid_current() % 4294967296)::TEXT
     FROM pg_database WHERE datname = current_database()
     ON CONFLICT DO NOTHING";

#[async_trait]
impl Identity for PostgresStore {
    async fn deployment(&self) -> Result<Option<Deployment>, Unavailable> {
        let read = self.read(&(), |connection, ()| Box::pin(read(connection)));
        Ok(read.await?)
    }

    async fn claim(&self, id: &DeploymentId, is_given: bool) -> Result<(), Unavailable> {
        let input = (id.clone(), is_given);
        self.write(input, |connection, input| {
            Box::pin(claim(connection, input))
        })
        .await
        .map_err(unavailable)
    }

    async fn adopt(&self, id: &DeploymentId, is_given: bool) -> Result<(), Unavailable> {
        let input = (id.clone(), is_given);
        self.write(input, |connection, input| {
            Box::pin(adopt(connection, input))
        })
        .await
        .map_err(unavailable)
    }
}

pub(super) async fn read(connection: &mut PgConnection) -> Result<Option<Deployment>, Fault> {
    let row = sqlx::query(READ).fetch_optional(connection).await?;
    let Some(row) = row else { return Ok(None) };
    let columns = Columns::of("deployment", &row);
    Ok(Some(Deployment {
        id: columns.parsed("id")?,
        is_given: columns.raw("is_given")?,
        is_in_place: columns.raw("is_in_place")?,
    }))
}

async fn claim(
    connection: &mut PgConnection,
    (id, is_given): &(DeploymentId, bool),
) -> Result<(), WriteError> {
    sqlx::query(CLAIM)
        .bind(id.as_str())
        .bind(*is_given)
        .execute(connection)
        .await?;
    Ok(())
}

async fn adopt(
    connection: &mut PgConnection,
    input: &(DeploymentId, bool),
) -> Result<(), WriteError> {
    sqlx::query("DELETE FROM deployment")
        .execute(&mut *connection)
        .await?;
    sequences::move_on_in_copy(connection).await?;
    claim(connection, input).await
}
