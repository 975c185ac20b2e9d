//! A server as its operators call it, and its metrics, parsed strictly.

use std::time::Duration;

use test_support::{Answer, Backend, Database, RawCaller, Sandbox};

use super::exposition::Exposition;

/// Timeout for everything the test waits for.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server on this PostgreSQL database, which the test keeps.
pub(crate) async fn start_on(database: &Database) -> Sandbox {
    // The flag replaces the default file.
    Sandbox::start_with(Backend::Sqlite, &["--database", &database.url()]).await
}

/// The name of a kind of database in metrics.
pub(crate) const fn name(backend: Backend) -> &'static str {
    match backend {
        Backend::Sqlite => "sqlite",
        Backend::Postgres => "postgresql",
    }
}

/// Calls the private listener without a token.
pub(crate) async fn ask(sandbox: &Sandbox, path: &str) -> Answer {
    RawCaller::new(sandbox.text("platformUrl"), None)
        .get(path)
        .await
}

/// A scrape; panics when it violates the format.
pub(crate) async fn scrape(sandbox: &Sandbox) -> Exposition {
    let answer = ask(sandbox, "/metrics").await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-type"),
        "text/plain; version=0.0.4; charset=utf-8"
    );
    Exposition::parse(&answer.text).unwrap_or_else(|defect| panic!("{defect}:\n{}", answer.text))
}

/// Scrapes until `is_reached`, and returns that scrape.
pub(crate) async fn scrape_until(
    sandbox: &Sandbox,
    is_reached: impl Fn(&Exposition) -> bool,
) -> Exposition {
    let wait = async {
        loop {
            let scraped = scrape(sandbox).await;
            if is_reached(&scraped) {
                return scraped;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, wait).await;
    waited.unwrap_or_else(|_| panic!("not reached: {}", sandbox.log()))
}

/// Calls a probe until it answers with this status, and returns the answer.
pub(crate) async fn probe_until(sandbox: &Sandbox, path: &str, status: u16) -> Answer {
    let wait = async {
        loop {
            let answer = ask(sandbox, path).await;
            if answer.status == status {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, wait).await;
    waited.unwrap_or_else(|_| panic!("{path} never answered {status}: {}", sandbox.log()))
}
