//! What `doctor` learns of a database, which it only reads.

use chrono::TimeDelta;

use crate::directory::KeptSecret;
use crate::hold::Deployment;

use super::{Moments, PendingSteps, SchemaMismatch};

/// Maximum number of connections of an instance to PostgreSQL (docs/limits.md).
pub const INSTANCE_CONNECTIONS: u32 = 40;

/// The state of a database, without opening it for work.
#[derive(Clone, Debug)]
pub struct Checkup {
    /// The name and version of its software.
    pub software: String,
    /// The migrations that are missing, or why this build does not support it; `None` for a SQLite
    /// database that the first start will make.
    pub schema: Option<Result<PendingSteps, SchemaMismatch>>,
    /// What only a database with this build's schema has.
    pub contents: Option<Contents>,
    /// What only PostgreSQL has.
    pub server: Option<ServerCheckup>,
}

/// What is looked at in a database.
#[derive(Clone, Debug)]
pub struct Contents {
    /// Its clock and its latest event.
    pub moments: Moments,
    /// The deployment that it belongs to; `None` before the first start.
    pub deployment: Option<Deployment>,
    /// The signing secrets in force.
    pub secrets: Vec<KeptSecret>,
}

/// The state of a PostgreSQL server.
#[derive(Clone, Debug)]
pub struct ServerCheckup {
    /// How far this machine's clock is ahead of its clock.
    pub clock_offset: TimeDelta,
    /// Whether the connection is encrypted.
    pub is_encrypted: bool,
    /// Whether it takes writes: a standby takes none.
    pub takes_writes: bool,
    /// The settings with which it may lose what it has confirmed.
    pub weak_settings: Vec<String>,
    /// Connections that this user may still open.
    pub free_connections: u32,
    /// How many connections of this service are open.
    pub own_connections: u32,
}
