//! A receiver that takes 100 ms for each answer, alone: events per second.

use std::time::Duration;

use crate::clients::{self, now};
use crate::receiver::Receiver;
use crate::stage::Stage;

const ROUND_TRIP: Duration = Duration::from_millis(100);
const CLIENTS: usize = 16;

/// `seconds` of creates are queued before the measurement begins.
pub(crate) fn run(seconds: u64) {
    let stage = Stage::new();
    let far = Receiver::start(ROUND_TRIP);
    stage.register_endpoint("payer", &far);
    stage.pause(true);
    let time = Duration::from_secs(seconds);
    let waiting = clients::run(&stage.scene, CLIENTS, time).count();
    let begun = now();
    stage.pause(false);
    far.wait_for(usize::try_from(waiting).unwrap());
    let millis = u64::try_from(begun.elapsed().as_millis()).unwrap();
    let rate = waiting.saturating_mul(1000).checked_div(millis);
    println!(
        "{waiting} events to one receiver {} ms away: {} a second",
        ROUND_TRIP.as_millis(),
        rate.unwrap_or_default()
    );
}
