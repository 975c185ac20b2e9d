//! Creates at a steady rate, whether or not they succeed, and the time until each event arrives.

use std::thread;
use std::time::{Duration, Instant};

use crate::clients::next_invoice;
use crate::connection::{Connection, now};
use crate::receiver::Receiver;
use crate::scene::Scene;

/// Clients that take turns, so that one waiting for its answer delays no other create.
const CLIENTS: u32 = 16;

/// Sends `rate` creates a second, and waits until `receiver` has all their events. Returns the
/// microseconds from the sending of each create to the arrival of its event, sorted.
pub(crate) fn run(scene: &Scene, receiver: &Receiver, rate: u32, time: Duration) -> Vec<u64> {
    let before = receiver.count();
    let begun = now();
    let sent: Vec<(u64, Instant)> = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| scope.spawn(move || send(scene, client, rate, begun, time)))
            .collect();
        clients
            .into_iter()
            .flat_map(|it| it.join().unwrap())
            .collect()
    });
    receiver.wait_for(before + sent.len());
    let arrivals = receiver.arrivals();
    let took = |(invoice, sent): (u64, Instant)| {
        let arrived = *arrivals.get(&invoice).unwrap();
        u64::try_from(arrived.duration_since(sent).as_micros()).unwrap()
    };
    let mut latencies: Vec<u64> = sent.into_iter().map(took).collect();
    latencies.sort_unstable();
    latencies
}

fn send(
    scene: &Scene,
    client: u32,
    rate: u32,
    begun: Instant,
    time: Duration,
) -> Vec<(u64, Instant)> {
    let mut connection = Connection::to(scene.address(0));
    let mut sent = Vec::new();
    let step = Duration::from_secs(1) / rate;
    for turn in 0_u32.. {
        let due = step * (turn * CLIENTS + client);
        if due >= time {
            break;
        }
        thread::sleep(due.saturating_sub(begun.elapsed()));
        let invoice = next_invoice();
        let request = scene.payer.create(invoice, 0);
        sent.push((invoice, now()));
        connection.send(&request, "201");
    }
    sent
}
