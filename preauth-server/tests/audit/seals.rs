//! Seals of the audit log: one chain, whoever seals.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use preauth_core::audit::{Moment, Totals, Violation, Watch, audit};
use preauth_server::clock::{Clock, SystemClock};
use preauth_server::directory::AuditOutcome;
use preauth_server::http::WireDecoder;
use preauth_server::store::{self, Stores};
use serde_json::Value;
use test_support::{Backend, Home, Sandbox, Scratch, on_each_database};

use crate::command::text;
use crate::world::request_of_an_operator;

const ROWS: u64 = 1_100;

on_each_database! {
    whoever_seals_at_the_same_moment_keeps_one_chain,
    a_running_server_seals_what_operators_do,
}

#[derive(Default)]
struct Found(Vec<Violation>);

impl Watch for Found {
    fn found(&mut self, violation: Violation) {
        self.0.push(violation);
    }

    fn progressed(&mut self, _totals: &Totals) {}
}

async fn leave_row(stores: &Stores) {
    let request = Arc::new(request_of_an_operator(SystemClock.now()));
    let left = stores
        .directory
        .leave_row(request, AuditOutcome::Done)
        .await;
    left.unwrap();
}

/// Seals until nothing is left; returns the number of rows sealed by this caller.
async fn seal_all(stores: &Stores) -> usize {
    let mut rows = 0;
    let mut idle = 0;
    while idle < 20 {
        match stores.directory.seal(SystemClock.now()).await.unwrap() {
            Some(seal) => (rows, idle) = (rows + seal.rows, 0),
            None => idle += 1,
        }
    }
    rows
}

async fn whoever_seals_at_the_same_moment_keeps_one_chain(backend: Backend) {
    let database = Scratch::empty(backend).await;
    store::migrate(&database.url()).await.unwrap();
    let one = store::open(&database.url()).await.unwrap();
    let other = match backend {
        // One process at a time opens the file.
        Backend::Sqlite => one.clone(),
        Backend::Postgres => store::open(&database.url()).await.unwrap(),
    };
    let writes = async {
        for _ in 0..ROWS / 10 {
            join_all((0..10).map(|_| leave_row(&one))).await;
        }
    };
    let ((), first, second, third) =
        tokio::join!(writes, seal_all(&one), seal_all(&other), seal_all(&other));
    let rest = seal_all(&one).await;
    let sealed = first + second + third + rest;
    assert_eq!(u64::try_from(sealed), Ok(ROWS), "each row once");
    one.lifecycle.close().await;
    other.lifecycle.close().await;
    let archive = store::archive(&database.url()).await.unwrap();
    let moment = Moment {
        now: SystemClock.now(),
        is_live: true,
        daily_share: NonZeroU32::MIN,
        mails_kept: None,
    };
    let mut found = Found::default();
    let totals = audit(&*archive, &WireDecoder, moment, &mut found).await;
    assert_eq!(found.0, []);
    assert!(totals.unwrap().seals >= 3, "500 rows a seal at most");
}

async fn a_running_server_seals_what_operators_do(backend: Backend) {
    let home = Home::of_a_sandbox(backend).await;
    let data = home.folder().join("data").display().to_string();
    let mut arguments = vec!["--json".to_owned(), "--data".to_owned(), data];
    arguments.extend(home.database_flags());
    let sandbox = Sandbox::start_in(home, &[]).await;
    let seals = || async {
        let output = crate::command::audit(&arguments).await;
        let lines = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{lines}");
        let last: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
        last["totals"]["auditLogSeals"].as_u64().unwrap()
    };
    let before = seals().await;
    sandbox.limit_credit(90, 5_000).await;
    while seals().await == before {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    drop(sandbox);
}
