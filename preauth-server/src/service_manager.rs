//! Tells the service manager (systemd) how the process is: ready, alive, stopping. Without one nobody
//! is told.

use std::future;
use std::time::Duration;

use sd_notify::NotifyState;

use crate::log::chain;

/// Says that the server answers requests.
pub fn ready(status: &str) {
    tell(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// Says that the server ends its work.
pub fn stopping() {
    tell(&[
        NotifyState::Stopping,
        NotifyState::Status("ending requests and deliveries under way"),
    ]);
}

/// Says again and again that the process works, for as long as it does: a service manager with a
/// watchdog (`WatchdogSec=`) restarts it otherwise, for the same reasons for which `/livez` answers
/// 503. Never returns.
pub async fn keep_alive(stall: impl Fn() -> Option<String>) {
    let Some(limit) = sd_notify::watchdog_enabled() else {
        return future::pending().await;
    };
    // Thrice in the limit: one late turn is no stall.
    let mut turns = tokio::time::interval(
        limit
            .checked_div(3)
            .unwrap_or(limit)
            .max(Duration::from_millis(1)),
    );
    loop {
        turns.tick().await;
        match stall() {
            None => tell(&[NotifyState::Watchdog]),
            Some(stalled) => tell(&[NotifyState::Status(&stalled)]),
        }
    }
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(error = chain(&error), "the service manager was not told");
    }
}
