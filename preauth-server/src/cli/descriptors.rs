//! The limit of open file descriptors.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::dispatcher::Limits;

/// Maximum to which the soft limit is raised: ten times what the default limits need.
const MAX_RAISED: u64 = 65_536;
/// Descriptors beside connections and attempts, with room: the database, mails, uploads.
const OTHERS: u64 = 512;
/// Each has its own connections.
const LISTENERS: u64 = 2;

/// What a shortage is.
pub(super) const SHORT: &str =
    "fewer file descriptors than connections and webhooks may need together";
/// What to do about it.
pub(super) const RAISE: &str = "raise the hard limit (LimitNOFILE= in systemd, `ulimit -H -n`) or \
                                lower connections.max";

/// Raises the soft limit to the hard one. The usual soft limit, 1,024, protects programs that call
/// `select`, which none of ours does. A limit that cannot be raised stays: `check` reports it.
pub(super) fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    let hard = limit.maximum.unwrap_or(MAX_RAISED).min(MAX_RAISED);
    if limit.current.is_some_and(|soft| soft < hard) {
        let raised = Rlimit {
            current: Some(hard),
            ..limit
        };
        let _ = setrlimit(Resource::Nofile, raised);
    }
}

/// A limit that is too low.
pub(super) struct Shortage {
    pub(super) limit: u64,
    pub(super) needed: u64,
}

/// Logs a warning when the limit is too low.
pub(super) fn check(connections: usize) {
    if let Some(Shortage { limit, needed }) = shortage(connections) {
        tracing::warn!(limit, needed, "{SHORT}: {RAISE}");
    }
}

/// Whether the limit is lower than what this number of connections on each listener and all attempts
/// need together.
pub(super) fn shortage(connections: usize) -> Option<Shortage> {
    let connections = u64::try_from(connections).unwrap_or(u64::MAX);
    let needed = connections
        .saturating_mul(LISTENERS)
        .saturating_add(Limits::default().in_all().into())
        .saturating_add(OTHERS);
    let limit = getrlimit(Resource::Nofile).current;
    let limit = limit.filter(|limit| *limit < needed)?;
    Some(Shortage { limit, needed })
}
