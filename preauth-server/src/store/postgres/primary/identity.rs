//! The server behind a connection.

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use crate::store::error::Refusal;

/// One run of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Identity {
    /// `None` if the server does not reveal it.
    pub(in super::super) lineage: Option<Lineage>,
    /// When its process started, in microseconds; a copy of the files starts at another time.
    pub(in super::super) started_micros: i64,
}

/// A lineage of writes: a standby shares its primary's, and each promotion begins a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Lineage {
    /// PostgreSQL's system identifier, the same on all copies of a cluster.
    pub(in super::super) system: i64,
    /// The timeline, which rises with each promotion.
    pub(in super::super) timeline: i64,
}

impl Identity {
    /// Whether `other` was promoted after this one.
    pub(super) fn is_older_than(&self, other: &Self) -> bool {
        let (Some(own), Some(other)) = (self.lineage, other.lineage) else {
            return false;
        };
        own.system == other.system && own.timeline < other.timeline
    }
}

/// The observed properties of a server.
pub(super) struct Seen {
    pub(super) identity: Identity,
    pub(super) refusal: Option<Refusal>,
    /// The lineage, if the database has not recorded it.
    pub(super) unrecorded: Option<Lineage>,
}

/// The timeline is read from the name of the current log file: that of the last checkpoint, for
/// which there is a function, may be older. A standby writes no log file.
const READ: &str = "SELECT i.is_writable, i.started, i.system, i.timeline,
         EXISTS (SELECT 1 FROM id_lineages l
                 WHERE l.system_identifier = i.system AND l.timeline = i.timeline) AS is_recorded
     FROM (SELECT current_setting('transaction_read_only') = 'off' AS is_writable,
                  (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::BIGINT AS started,
                  (SELECT system_identifier FROM pg_control_system()) AS system,
                  CASE WHEN NOT pg_is_in_recovery() THEN
                      ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::BIT(32)::BIGINT
                  END AS timeline) AS i";
/// For a server on which the other values are not accessible.
const READ_LITTLE: &str = "SELECT current_setting('transaction_read_only') = 'off' AS is_writable,
         (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::BIGINT AS started,
         NULL::BIGINT AS system, NULL::BIGINT AS timeline, TRUE AS is_recorded";
/// Not permitted, not supported, no such function.
const NOT_REVEALED: [&str; 3] = ["42501", "0A000", "42883"];

/// One round trip; no prepared statement, because each connection runs it once.
pub(super) async fn read(connection: &mut PgConnection) -> Result<Seen, sqlx::Error> {
    let row = match sqlx::raw_sql(READ).fetch_one(&mut *connection).await {
        Err(sqlx::Error::Database(error))
            if error
                .code()
                .is_some_and(|code| NOT_REVEALED.contains(&&*code)) =>
        {
            sqlx::raw_sql(READ_LITTLE).fetch_one(connection).await?
        }
        row => row?,
    };
    seen(&row)
}

/// Whether a connection still answers and its server accepts writes.
pub(in super::super) async fn is_writable(
    connection: &mut PgConnection,
) -> Result<bool, sqlx::Error> {
    let row = sqlx::raw_sql("SELECT current_setting('transaction_read_only') = 'off'")
        .fetch_one(connection)
        .await?;
    row.try_get(0)
}

fn seen(row: &PgRow) -> Result<Seen, sqlx::Error> {
    let system: Option<i64> = row.try_get("system")?;
    let timeline: Option<i64> = row.try_get("timeline")?;
    let lineage = system
        .zip(timeline)
        .map(|(system, timeline)| Lineage { system, timeline });
    let is_writable: bool = row.try_get("is_writable")?;
    let is_recorded: bool = row.try_get("is_recorded")?;
    Ok(Seen {
        identity: Identity {
            lineage,
            started_micros: row.try_get("started")?,
        },
        refusal: (!is_writable).then_some(Refusal::ReadOnly),
        unrecorded: lineage.filter(|_| !is_recorded),
    })
}
