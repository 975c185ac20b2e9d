//! Examines a PostgreSQL server over one connection that only reads.

use std::time::Duration;

use sqlx::{Connection, PgConnection};
use tokio::time::timeout;

use crate::clock::{Clock, SystemClock};
use crate::store::error::Fault;
use crate::store::sql::endpoints::all_secrets;
use crate::store::{Checkup, Contents, DatabaseUrl, OpenError, ServerCheckup};

use super::durability::weak_settings;
use super::open::{connect, options, refuse_half_restored, unreachable};
use super::rows::Columns;
use super::{identity, migrations, moments};

/// Maximum time to look at the database, once connected.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a user may open is limited by the server, by the database and by the user.
const SERVER: &str = "SELECT current_setting('server_version') AS version,
        (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT AS now,
        coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS is_encrypted,
        NOT pg_is_in_recovery() AND current_setting('default_transaction_read_only') = 'off'
            AS takes_writes,
        greatest(0, current_setting('max_connections')::BIGINT
            - current_setting('superuser_reserved_connections')::BIGINT
            - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'))::BIGINT
            AS free_connections,
        (SELECT count(*) FROM pg_stat_activity
         WHERE application_name = 'preauth-server' AND datname = current_database()
           AND pid <> pg_backend_pid()) AS own_connections";

/// The state of the server and database that `url` names.
pub(in crate::store) async fn check_up(url: &DatabaseUrl) -> Result<Checkup, OpenError> {
    let options = options(url)?;
    let mut connection = connect(&options).await?;
    // A migration of another instance may hold its locks for long.
    let looked = timeout(PATIENCE, look(&mut connection)).await;
    let looked = looked.unwrap_or(Err(Fault::TimedOut));
    let _ = timeout(PATIENCE, connection.close()).await;
    looked.map_err(|fault| unreachable(&options, fault))
}

async fn look(connection: &mut PgConnection) -> Result<Checkup, Fault> {
    let asked_at = SystemClock.now();
    let row = sqlx::query(SERVER).fetch_one(&mut *connection).await?;
    let took = SystemClock.now().since(asked_at);
    let columns = Columns::of("pg_settings", &row);
    let now = columns.timestamp("now")?;
    let version: String = columns.raw("version")?;
    let server = ServerCheckup {
        // It answered about halfway.
        clock_offset: asked_at
            .saturating_add(took.checked_div(2).unwrap_or(took))
            .since(now),
        is_encrypted: columns.raw("is_encrypted")?,
        takes_writes: columns.raw("takes_writes")?,
        weak_settings: weak_settings(connection).await?,
        free_connections: columns.raw("free_connections")?,
        own_connections: columns.raw("own_connections")?,
    };
    let pending = match refuse_half_restored(connection).await {
        Ok(()) => migrations::pending(connection).await,
        Err(fault) => Err(fault),
    };
    let schema = match pending {
        Ok(pending) => Ok(pending),
        Err(Fault::Schema(mismatch)) => Err(mismatch),
        Err(fault) => return Err(fault),
    };
    // An older schema has no events, or keeps them in another way.
    let is_current = schema
        .as_ref()
        .is_ok_and(|pending| pending.steps.is_empty());
    let contents = if is_current {
        let moments = moments(connection).await?;
        Some(Contents {
            moments,
            deployment: identity::read(connection).await?,
            secrets: all_secrets(connection, now).await?,
        })
    } else {
        None
    };
    Ok(Checkup {
        software: format!("PostgreSQL {version}"),
        schema: Some(schema),
        contents,
        server: Some(server),
    })
}
