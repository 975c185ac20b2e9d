//! Seals of the audit log: one chain, whoever seals.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use preauth_core::audit::{Moment, Rule, Totals, Violation, Watch, audit, audit_with_seals};
use preauth_core::port::SealMark;
use preauth_server::clock::{Clock, SystemClock};
use preauth_server::directory::{AuditOutcome, Sealing};
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
    a_log_that_was_written_anew_gets_no_seal,
    an_audit_misses_a_seal_that_was_kept_elsewhere,
    a_running_server_and_its_audit_name_the_newest_seal,
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

async fn seal(stores: &Stores, known: Option<SealMark>) -> Sealing {
    let sealed = stores.directory.seal(SystemClock.now(), known);
    sealed.await.unwrap()
}

/// Leaves a row and seals it.
async fn sealed_row(stores: &Stores, known: Option<SealMark>) -> SealMark {
    leave_row(stores).await;
    match seal(stores, known).await {
        Sealing::Sealed { seal, rows: 1 } => seal,
        other => panic!("{other:?}"),
    }
}

/// Seals until nothing is left; returns the number of rows sealed by this caller.
async fn seal_all(stores: &Stores) -> usize {
    let mut rows = 0;
    let mut idle = 0;
    while idle < 20 {
        match seal(stores, None).await {
            Sealing::Sealed { rows: sealed, .. } => (rows, idle) = (rows + sealed, 0),
            Sealing::Nothing(_) => idle += 1,
            broken @ Sealing::Broken { .. } => panic!("{broken:?}"),
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

/// The rows from the second seal on lose their seals, and with them the proof of what they were.
const UNSEALED: [&str; 2] = [
    "UPDATE audit_log SET seal = NULL WHERE seal > 1",
    "DELETE FROM audit_seals WHERE number > 1",
];

async fn a_log_that_was_written_anew_gets_no_seal(backend: Backend) {
    let database = Scratch::empty(backend).await;
    store::migrate(&database.url()).await.unwrap();
    let stores = store::open(&database.url()).await.unwrap();
    let first = sealed_row(&stores, None).await;
    let second = sealed_row(&stores, Some(first)).await;
    let third = sealed_row(&stores, Some(second)).await;
    assert_eq!((first.number, third.number), (1, 3));
    let newest = seal(&stores, Some(third)).await;
    assert_eq!(newest, Sealing::Nothing(Some(third)));
    // Changed in its newest seal: whoever comes new sees it, too.
    leave_row(&stores).await;
    database
        .execute(&["UPDATE audit_log SET operator_name = 'nobody' WHERE seal = 3"])
        .await;
    for known in [None, Some(second), Some(third)] {
        assert_eq!(seal(&stores, known).await, Sealing::Broken { number: 3 });
    }
    // Removed with its seals, and sealed by nobody who knew them.
    database.execute(&UNSEALED).await;
    for known in [second, third] {
        let number = known.number;
        assert_eq!(seal(&stores, Some(known)).await, Sealing::Broken { number });
    }
    // Whoever comes new cannot know; the seal of the same number is another one for all others.
    let anew = match seal(&stores, Some(first)).await {
        Sealing::Sealed { seal, rows: 3 } => seal,
        other => panic!("{other:?}"),
    };
    assert_eq!(anew.number, second.number);
    assert_eq!(
        seal(&stores, Some(second)).await,
        Sealing::Broken { number: 2 }
    );
    stores.lifecycle.close().await;
}

async fn an_audit_misses_a_seal_that_was_kept_elsewhere(backend: Backend) {
    let database = Scratch::empty(backend).await;
    store::migrate(&database.url()).await.unwrap();
    let stores = store::open(&database.url()).await.unwrap();
    let first = sealed_row(&stores, None).await;
    let second = sealed_row(&stores, None).await;
    stores.lifecycle.close().await;
    let found = |seals: &[SealMark]| {
        let url = database.url();
        let seals = seals.to_vec();
        async move {
            let archive = store::archive(&url).await.unwrap();
            let moment = Moment {
                now: SystemClock.now(),
                is_live: true,
                daily_share: NonZeroU32::MIN,
                mails_kept: None,
            };
            let mut found = Found::default();
            let totals = audit_with_seals(&*archive, &WireDecoder, moment, &seals, &mut found);
            totals.await.unwrap();
            let lines = found.0.iter().map(|it| {
                assert_eq!(it.rule, Rule::SealedLog);
                it.what.clone()
            });
            lines.collect::<Vec<_>>()
        }
    };
    assert_eq!(found(&[first, second, first]).await, [""; 0]);
    let other = SealMark {
        hash: [7; 32],
        ..second
    };
    let differs = found(&[first, other]).await;
    assert_eq!(differs.len(), 1, "{differs:?}");
    assert!(differs[0].contains("written anew"), "{differs:?}");
    // Truncated whole: what is left is a good chain.
    database
        .execute(&[
            "DELETE FROM audit_log WHERE seal > 1",
            "DELETE FROM audit_seals WHERE number > 1",
        ])
        .await;
    assert_eq!(found(&[first]).await, [""; 0]);
    let missing = found(&[first, second]).await;
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert!(missing[0].contains("missing"), "{missing:?}");
}

/// Through the real binary: log, metric and `audit --seal` agree.
async fn a_running_server_and_its_audit_name_the_newest_seal(backend: Backend) {
    let home = Home::of_a_sandbox(backend).await;
    let data = home.folder().join("data").display().to_string();
    let mut arguments = vec!["--data".to_owned(), data];
    arguments.extend(home.database_flags());
    let sandbox = Sandbox::start_in(home, &[]).await;
    sandbox.limit_credit(90, 5_000).await;
    let metric = async |name: &str| {
        let text = reqwest::get(format!(
            "{}/metrics",
            sandbox.ready["platformUrl"].as_str().unwrap()
        ));
        let text = text.await.unwrap().text().await.unwrap();
        let line = text.lines().find(|line| line.starts_with(name));
        let value = line.unwrap().rsplit(' ').next().unwrap();
        value.parse::<i64>().unwrap()
    };
    while metric("preauth_audit_log_newest_seal").await == 0 {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(metric("preauth_audit_log_broken").await, 0);
    let wrong = [
        arguments.clone(),
        vec![
            "--seal".to_owned(),
            format!("1:{}", "ab".repeat(32)),
            "--seal".to_owned(),
            format!("999:{}", "ab".repeat(32)),
        ],
    ]
    .concat();
    let output = crate::command::audit(&wrong).await;
    let lines = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{lines}");
    for part in ["written anew", "is missing", "2 violations"] {
        assert!(lines.contains(part), "{lines}");
    }
    let bad = [
        arguments.clone(),
        vec!["--seal".to_owned(), "1:ab".to_owned()],
    ]
    .concat();
    let output = crate::command::audit(&bad).await;
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    drop(sandbox);
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
