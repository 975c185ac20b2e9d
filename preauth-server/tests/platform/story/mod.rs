//! A whole month on the sandbox's clock, with every event that company and supplier receive.

mod cast;
mod listener;
mod steps;

use cast::Cast;
use steps::steps;
use test_support::{Backend, on_each_database};

on_each_database! {
    a_month_sends_its_events_to_company_and_supplier_step_by_step,
}

// Contract: operation-event/anticipationId operation-event/status operation-event/netAmount
// Contract: operation-event/stage stage/* status/IN_PRE_AUTH status/IN_VERIFICATION
// Contract: status/TO_APPROVE status/IN_ANALYSIS status/TO_PAY status/TO_BILL status/TO_RECEIVE
// Contract: status/CONCLUDED status/REPROVED transition/create transition/expiry
// Contract: transition/the-others transition/net-amount delivery/both-parties delivery/owner-alone
// Contract: event-type/* version/history-second-step
async fn a_month_sends_its_events_to_company_and_supplier_step_by_step(backend: Backend) {
    let mut cast = Cast::new(backend).await;
    for step in steps() {
        cast.wait_for(step.day).await;
        let subject = cast.play(&step).await;
        cast.receive(&step, subject).await;
    }
    cast.ends().await;
}
