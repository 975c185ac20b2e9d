//! The background loops: dispatcher, sweeper, janitor, the sender of mails and the sealer of
//! the audit log.

use std::sync::Arc;

use preauth_core::service::Operations;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::{Parts, StartError};
use crate::clock::{Clock, SystemClock};
use crate::directory::Directory;
use crate::dispatcher::{Dispatcher, HttpSender, HttpSenderOptions};
use crate::feed::{Numberer, Waiters};
use crate::janitor::Janitor;
use crate::mail::{KeptMails, MailSender};
use crate::sealer::Sealer;
use crate::store::Stores;
use crate::sweeper::Sweeper;
use crate::telemetry::metrics::AuditLogMetrics;
use crate::worker::{LoopHealth, Shutdown};

/// The dispatcher, which is not running yet.
pub(super) fn dispatcher(parts: &Parts) -> Result<Dispatcher, StartError> {
    let outbox = Arc::clone(&parts.stores.outbox);
    let clock = || Arc::clone(&parts.clock);
    let sender = HttpSender::new(HttpSenderOptions {
        extra_roots: parts.extra_roots.clone(),
        ..HttpSenderOptions::new(parts.endpoint_validator.clone())
    })?;
    let vault = parts.vault.clone();
    let wake = parts.stores.lifecycle.deliveries_waiting();
    parts.wake_at_jumps(&wake);
    let receivers_clock: Arc<dyn Clock> = match parts.time_machine {
        // The receivers' clocks do not travel.
        Some(_) => Arc::new(SystemClock),
        None => clock(),
    };
    let dispatcher = Dispatcher::new(outbox, Arc::new(sender), vault, clock(), wake)
        .with_receivers_clock(receivers_clock)
        .held_by(parts.hold.clone());
    Ok(dispatcher)
}

/// The numberer of events, which is not running yet.
pub(super) fn numberer(parts: &Parts) -> Numberer {
    let numbers = Arc::clone(&parts.stores.numbers);
    let waiters = Waiters::new(parts.connections.max_connections);
    Numberer::new(
        numbers,
        Arc::clone(&parts.clock),
        parts.retention.events,
        waiters,
    )
    .held_by(parts.hold.clone())
}

/// Starts it and returns its health.
pub(super) fn start_numberer(
    numberer: &Arc<Numberer>,
    shutdown: &Shutdown,
    tasks: &mut JoinSet<()>,
) -> Arc<LoopHealth> {
    let running = Arc::clone(numberer);
    let until = shutdown.clone();
    tasks.spawn(async move { running.run(until).await });
    numberer.health()
}

/// Starts the other loops and returns their health.
pub(super) fn start(
    parts: &Parts,
    dispatcher: &Arc<Dispatcher>,
    operations: &Arc<Operations>,
    metrics: &AuditLogMetrics,
    shutdown: &Shutdown,
    tasks: &mut JoinSet<()>,
) -> Vec<Arc<LoopHealth>> {
    let Stores {
        directory,
        mails,
        housekeeping,
        ..
    } = parts.stores.clone();
    let clock = || Arc::clone(&parts.clock);
    let hold = || parts.hold.clone();
    let wake = || {
        let wake = Arc::default();
        parts.wake_at_jumps(&wake);
        wake
    };
    let sweeper = Sweeper::new(Arc::clone(operations), clock())
        .woken_by(wake())
        .held_by(hold());
    let sessions = Arc::<dyn Directory>::clone(&parts.stores.directory);
    let reports = Arc::<dyn Directory>::clone(&parts.stores.directory);
    let unsettled = housekeeping.endpoints_unsettled();
    parts.wake_at_jumps(&unsettled);
    let records = Arc::<dyn Directory>::clone(&parts.stores.directory);
    let kept_mails = KeptMails::new(parts.mail_folder.clone(), records);
    let janitor = Janitor::new(housekeeping, clock(), parts.retention)
        .sweeping(Arc::clone(&parts.files))
        .tidying(kept_mails)
        .ending(sessions)
        .counting(reports)
        .woken_by(unsettled)
        .held_by(hold());
    let sender = MailSender::new(mails, parts.mails.clone(), clock(), wake()).held_by(hold());
    let sealer = Sealer::new(directory, clock(), metrics.clone()).held_by(hold());
    let mut loops = vec![
        dispatcher.health(),
        sweeper.health(),
        janitor.health(),
        sender.health(),
        sealer.health(),
    ];
    let (until, running) = (shutdown.clone(), Arc::clone(dispatcher));
    tasks.spawn(async move { running.run(until).await });
    let until = shutdown.clone();
    tasks.spawn(async move { sweeper.run(until).await });
    let until = shutdown.clone();
    tasks.spawn(async move { janitor.run(until).await });
    let until = shutdown.clone();
    tasks.spawn(async move { sender.run(until).await });
    let until = shutdown.clone();
    tasks.spawn(async move { sealer.run(until).await });
    if let Some(watch) = parts.watch.clone() {
        loops.push(Arc::clone(&watch.health));
        let until = shutdown.clone();
        tasks.spawn(async move { watch.run(until).await });
    }
    loops
}

impl Parts {
    /// Ends a loop's sleep when the clock jumps.
    fn wake_at_jumps(&self, wake: &Arc<Notify>) {
        if let Some(machine) = &self.time_machine {
            machine.clock().wakes(Arc::clone(wake));
        }
    }
}
