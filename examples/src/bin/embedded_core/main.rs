//! The rules inside another service, with a store of its own and without HTTP, runtime or clock.
//!
//! Two invoices are offered: the supplier requests the advance of the first; the second expires.
#![expect(clippy::print_stdout, reason = "the program shows what was recorded")]

mod demo;
mod ledger;
mod texts;

use std::error::Error;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use preauth_core::Policy;
use preauth_core::memory::CountingIds;
use preauth_core::operation::{Actor, Command, Offer};
use preauth_core::port::{Queries, Viewer};
use preauth_core::service::{OfferOutcome, Operations};
use preauth_core::value::{OperationId, Timestamp};

fn main() -> Result<(), Box<dyn Error>> {
    let today = Timestamp::parse("2026-11-21T12:00:00Z")?;
    let (payer, ledger) = demo::ledger()?;
    let store = Arc::new(ledger);
    let service = Operations::new(
        store.clone(),
        Arc::new(CountingIds::new()),
        Arc::new(texts::PlainText),
        Policy::default(),
    );

    let first = begin(&service, &demo::offer(payer, "NF-1")?, today)?;
    let second = begin(&service, &demo::offer(payer, "NF-2")?, today)?;

    // The ledger returns the operation that holds the invoice; the rule is core's.
    if let Err(refusal) = begin(&service, &demo::offer(payer, "NF-1")?, today) {
        println!("refused: {refusal}");
    }

    let request = |id, now| {
        done(service.command(
            Viewer::Platform,
            id,
            &Command::Request,
            Actor::Supplier,
            now,
        ))
    };
    request(first, today)?;

    // Time is an argument, so a month can pass between two lines.
    let next_month = Timestamp::parse("2026-12-22T12:00:00Z")?;
    done(service.expire_overdue(next_month, 100))?;
    if let Err(refusal) = request(second, next_month) {
        println!("refused: {refusal}");
    }

    for id in [first, second] {
        for event in done(store.history(id))? {
            println!("{} {}", event.at, event.body);
        }
    }
    Ok(())
}

fn begin(
    service: &Operations,
    offer: &Offer,
    now: Timestamp,
) -> Result<OperationId, Box<dyn Error>> {
    match done(service.offer(offer, Actor::Company, None, now))? {
        OfferOutcome::Created { operation, .. } => Ok(operation.id),
        OfferOutcome::Replayed { .. } => {
            Err("without an idempotency key nothing is replayed".into())
        }
    }
}

/// Nothing in memory ever waits, so one poll completes the future. A database needs a real
/// executor.
fn done<T, E: Error + 'static>(
    future: impl Future<Output = Result<T, E>>,
) -> Result<T, Box<dyn Error>> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => Ok(outcome?),
        Poll::Pending => Err("the store waits for something".into()),
    }
}
