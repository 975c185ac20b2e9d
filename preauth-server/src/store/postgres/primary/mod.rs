//! Determines which server the store writes to: the primary behind the database's name.
//!
//! A fail-over moves the name, but open connections do not notice. Every new connection is
//! therefore identified before it is used, and a watcher opens one every few seconds. When they
//! reach another server than before, all older connections of the store are closed at their next
//! use. A server that accepts no writes is refused, and so is one whose timeline is older than one
//! already seen: it was the primary before a promotion, and may still be running.

mod identity;
mod watcher;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use sqlx::PgConnection;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::log::chain;
use crate::store::error::{Fault, Refusal, said};

use super::durability::Durability;
use super::sequences;
use identity::Identity;
pub(super) use identity::{Lineage, is_writable};
pub(super) use watcher::Watcher;

/// The state of the server of one store, as its connections know it; shared by all pools.
#[derive(Debug, Default)]
pub(super) struct Primary {
    state: Mutex<State>,
    /// The number of times that another server was found.
    switches: watch::Sender<u64>,
    durability: Durability,
}

#[derive(Debug, Default)]
struct State {
    current: Option<Identity>,
    /// Connections opened before then lead to another server.
    stale_before: Option<Instant>,
    /// Connections idle since before then may be broken, or lead to a server that no longer accepts
    /// writes.
    suspect_before: Option<Instant>,
    /// Why the latest new connection was refused; `None` when it was accepted.
    refusal: Option<Refusal>,
    /// Why the watcher's latest connection was not made, with the server's name.
    no_connection: Option<Arc<str>>,
}

impl Primary {
    /// Identifies the server of a new connection; the connection must not be used when this fails.
    /// On a timeline that the database has not recorded, the sequences are advanced first.
    pub(super) async fn admit(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let seen = identity::read(connection).await?;
        let refusal = seen.refusal.or_else(|| self.refuses(&seen.identity));
        self.note(refusal);
        if let Some(refusal) = refusal {
            return Err(sqlx::Error::Configuration(Box::new(refusal)));
        }
        if let Some(lineage) = seen.unrecorded {
            sequences::move_on(connection, lineage).await?;
        }
        let is_another = self.accept(seen.identity);
        self.durability.check(connection, is_another).await;
        Ok(())
    }

    /// Logs settings of the server with which confirmed commits may be lost; each new connection checks
    /// them again from time to time.
    pub(super) async fn check_durability(&self, options: &PgConnectOptions) {
        self.durability.check_first(options).await;
    }

    /// Has every idle connection of the store tested before its next use.
    pub(super) fn recheck_idle(&self) {
        self.state().suspect_before = Some(Instant::now());
    }

    pub(super) fn is_suspect(&self, idle_for: Duration) -> bool {
        let since = self.state().suspect_before;
        since.is_some_and(|since| idle_for >= since.elapsed())
    }

    /// Whether a connection of this age leads to a server that the name no longer leads to.
    pub(super) fn is_stale(&self, age: Duration) -> bool {
        let before = self.state().stale_before;
        before.is_some_and(|before| age >= before.elapsed())
    }

    /// Why there is no connection, if the server behind the name is the reason.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        self.state().refusal
    }

    /// Why there is no connection at all, as the watcher found a moment ago.
    pub(super) fn no_connection(&self) -> Option<Arc<str>> {
        self.state().no_connection.clone()
    }

    /// Stores whether a connection was made, and logs a new reason why not, and its end.
    fn note_connection(&self, failure: Option<String>) {
        let failure: Option<Arc<str>> = failure.map(Into::into);
        let before = std::mem::replace(&mut self.state().no_connection, failure.clone());
        match failure {
            Some(text) if before.as_ref() != Some(&text) => {
                tracing::warn!("{text}; this is tried again until it succeeds");
            }
            None if before.is_some() => tracing::info!("the database is connected to again"),
            Some(_) | None => {}
        }
    }

    /// Counts the switches to another server.
    pub(super) fn switches(&self) -> watch::Receiver<u64> {
        self.switches.subscribe()
    }

    fn refuses(&self, seen: &Identity) -> Option<Refusal> {
        let state = self.state();
        let is_older = state.current.is_some_and(|it| seen.is_older_than(&it));
        is_older.then_some(Refusal::OldTimeline)
    }

    /// Stores why a connection was refused, and logs a new reason.
    fn note(&self, refusal: Option<Refusal>) {
        let before = std::mem::replace(&mut self.state().refusal, refusal);
        match refusal {
            Some(refusal) if before != Some(refusal) => tracing::warn!(
                "the database's name leads to a server that is not used: {refusal}; \
                 have the name lead to the primary"
            ),
            Some(_) | None => {}
        }
    }

    /// Whether this is another server than before.
    fn accept(&self, seen: Identity) -> bool {
        let (is_first, is_another) = {
            let mut state = self.state();
            let before = state.current.replace(seen);
            let is_another = before.is_some_and(|before| before != seen);
            if is_another {
                state.stale_before = Some(Instant::now());
            }
            (before.is_none(), is_another)
        };
        if is_first && seen.lineage.is_none() {
            tracing::warn!(
                "PostgreSQL does not reveal its timeline, so ids are not moved on after a promotion; \
                 allow this role to execute pg_control_system, pg_current_wal_lsn and pg_walfile_name"
            );
        }
        if is_another {
            self.switches
                .send_modify(|count| *count = count.saturating_add(1));
            tracing::warn!(
                system = seen.lineage.map(|it| it.system),
                timeline = seen.lineage.map(|it| it.timeline),
                "the database's name leads to another server, or it was restarted; \
                 connections from before are closed"
            );
        }
        is_another
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Prepares a new connection.
pub(super) type WarmUp = for<'c> fn(&'c mut PgConnection) -> BoxFuture<'c, Result<(), sqlx::Error>>;

/// Lets `primary` check the new connections of a pool, which are then prepared by `warm_up`.
pub(super) fn admitting(
    pool: PgPoolOptions,
    primary: &Arc<Primary>,
    warm_up: Option<WarmUp>,
) -> PgPoolOptions {
    let primary = Arc::clone(primary);
    pool.after_connect(move |connection, _| {
        let primary = Arc::clone(&primary);
        Box::pin(async move {
            let admitted = primary.admit(connection).await;
            match &admitted {
                // The pool retries; a new refusal is logged.
                Ok(()) | Err(sqlx::Error::Configuration(_)) => {}
                Err(error) => tracing::warn!(
                    error = said(error),
                    "the server of a new connection was not identified"
                ),
            }
            admitted?;
            match warm_up {
                Some(warm_up) => prepared(warm_up(connection).await),
                None => Ok(()),
            }
        })
    })
}

/// A connection on which preparing failed for another reason than its own is used all the same: requests do what is missing,
/// or meet the same failure.
fn prepared(outcome: Result<(), sqlx::Error>) -> Result<(), sqlx::Error> {
    match outcome.map_err(Fault::from) {
        Err(fault @ Fault::Database(_)) if fault.is_broken_connection() => match fault {
            Fault::Database(error) => Err(error),
            _ => Ok(()),
        },
        Err(fault) => {
            tracing::debug!(error = chain(&fault), "a new connection was not prepared");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

/// Records the lineage of a database that is new, or was never used beside a standby.
pub(super) async fn record_first(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    match identity::read(connection).await?.unrecorded {
        Some(lineage) => sequences::record_first(connection, lineage).await,
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Identity, Lineage, Primary, Refusal};

    const OLD: Duration = Duration::from_mins(1);

    const fn on(timeline: i64) -> Identity {
        server(1, timeline, 0)
    }

    const fn server(system: i64, timeline: i64, started_micros: i64) -> Identity {
        Identity {
            lineage: Some(Lineage { system, timeline }),
            started_micros,
        }
    }

    #[test]
    fn the_first_server_makes_no_connection_stale() {
        let primary = Primary::default();
        primary.accept(on(1));
        primary.accept(on(1));
        assert!(!primary.is_stale(OLD));
        assert_eq!(*primary.switches().borrow(), 0);
    }

    #[test]
    fn another_server_makes_older_connections_stale() {
        for other in [on(2), server(2, 1, 0), server(1, 1, 9)] {
            let primary = Primary::default();
            primary.accept(on(1));
            primary.accept(other);
            assert!(primary.is_stale(OLD), "{other:?}");
            assert!(!primary.is_stale(Duration::ZERO), "{other:?}");
            assert_eq!(*primary.switches().borrow(), 1, "{other:?}");
        }
    }

    #[test]
    fn a_primary_from_before_a_promotion_is_refused_and_another_system_is_not() {
        let primary = Primary::default();
        primary.accept(on(2));
        assert_eq!(primary.refuses(&on(1)), Some(Refusal::OldTimeline));
        assert_eq!(primary.refuses(&on(3)), None);
        assert_eq!(primary.refuses(&server(2, 1, 0)), None);
    }

    #[tokio::test(start_paused = true)]
    async fn suspicion_concerns_what_has_been_idle_since_before_it() {
        let primary = Primary::default();
        assert!(!primary.is_suspect(OLD));
        primary.recheck_idle();
        tokio::time::advance(Duration::from_secs(3)).await;
        assert!(primary.is_suspect(Duration::from_secs(3)));
        assert!(!primary.is_suspect(Duration::from_secs(2)));
    }
}
