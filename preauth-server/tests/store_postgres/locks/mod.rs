//! Locked rows: only what needs them waits.
//!
//! Each case is decided by the order of answers, not by a stopwatch: what does not need the row is answered
//! while everything that needs it still waits.

mod attempts;
mod backlog;
mod commits;
mod janitor;
mod mails;
mod platform;
mod rate_windows;
mod resends;
mod secrets;

use std::fmt::Debug;

use preauth_core::value::CompanyId;
use sqlx::postgres::Postgres;
use sqlx::{AssertSqlSafe, Executor, Transaction};
use tokio::task::JoinHandle;

use crate::store::fixture::Fixture;

/// Requests of other companies beside a held row.
const REQUESTS_BESIDE: usize = 30;
/// Maximum number of tries. A request that needs the row gives up after some seconds; a machine that is busy with other
/// work may not have come to what stands beside it by then, and such a try shows nothing.
const ROUNDS: usize = 4;

/// A transaction of the test that holds the locks of `sql`.
struct Holder(Transaction<'static, Postgres>);

impl Holder {
    async fn of(fixture: &Fixture, sql: &str) -> Self {
        let mut holder = Self(fixture.sql.begin().await.unwrap());
        holder.lock(sql).await;
        holder
    }

    /// Holds the locks of `sql` as well.
    async fn lock(&mut self, sql: &str) {
        let locked = self.0.execute(AssertSqlSafe(sql.to_owned())).await;
        assert!(locked.unwrap().rows_affected() > 0, "{sql}");
    }

    async fn let_go(self) {
        self.0.rollback().await.unwrap();
    }

    async fn commit(self) {
        self.0.commit().await.unwrap();
    }
}

/// Runs `beside` while what `begin` starts needs rows that `holder` has locked: none of that may be answered
/// before all of `beside` is. Then lets the rows go, and returns what the waiting requests were answered.
async fn goes_on_beside<T, E: Debug>(
    holder: Holder,
    begin: impl Fn() -> Vec<JoinHandle<Result<T, E>>>,
    beside: impl AsyncFn(),
) -> Vec<T> {
    for _ in 0..ROUNDS {
        let waiting = begin();
        beside().await;
        if waiting.iter().any(JoinHandle::is_finished) {
            for waiting in waiting {
                let refused = waiting.await.unwrap().is_err();
                assert!(refused, "what needs the row did not wait for it");
            }
            continue;
        }
        holder.let_go().await;
        let mut answers = Vec::new();
        for waiting in waiting {
            answers.push(waiting.await.unwrap().unwrap());
        }
        return answers;
    }
    panic!("{ROUNDS} times what needs the row was refused before what does not was answered");
}

/// Returns once a session of the store waits for a lock. Where it waits only for moments, none may be seen:
/// then what follows may have begun before the wait.
async fn one_waits(fixture: &Fixture) {
    const MAX_LOOKS: usize = 1_000;
    for _ in 0..MAX_LOOKS {
        let waits: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM pg_stat_activity
                            WHERE datname = current_database() AND wait_event_type = 'Lock'
                              AND application_name = 'preauth-server')",
        )
        .fetch_one(&fixture.sql)
        .await
        .unwrap();
        if waits {
            return;
        }
    }
}

/// Consecutive offers of a head office that the lock does not affect.
async fn offers_of(fixture: &Fixture, payer: CompanyId) {
    for _ in 0..REQUESTS_BESIDE {
        fixture.offer(payer).await;
    }
}

fn held_company(company: CompanyId) -> String {
    let id = company.as_uuid();
    format!("SELECT 1 FROM companies WHERE id = '{id}' FOR UPDATE")
}
