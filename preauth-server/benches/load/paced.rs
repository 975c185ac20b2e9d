//! Creates at a steady rate, whether or not they succeed, and the time until each event arrives.

use std::thread;
use std::time::{Duration, Instant};

use crate::clients::next_invoice;
use crate::connection::{Connection, now};
use crate::receiver::Receiver;
use crate::scene::Scene;

/// Clients that take turns, so that one waiting for its answer delays no other create.
const CLIENTS: u32 = 16;

/// What the events of creates took, in microseconds, each sorted.
pub(crate) struct Latencies {
    /// From the sending of the create to the arrival of its event.
    pub(crate) whole: Vec<u64>,
    /// From the create's answer on; 0 if the event came first.
    pub(crate) after_answer: Vec<u64>,
}

struct Sent {
    invoice: u64,
    at: Instant,
    answered_after: u64,
}

/// Sends `rate` creates a second, and waits until `receiver` has all their events.
pub(crate) fn run(scene: &Scene, receiver: &Receiver, rate: u32, time: Duration) -> Latencies {
    let before = receiver.count();
    let begun = now();
    let sent: Vec<Sent> = thread::scope(|scope| {
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
    let (mut whole, mut after_answer) = (Vec::new(), Vec::new());
    for sent in sent {
        let arrived = *arrivals.get(&sent.invoice).unwrap();
        let took = u64::try_from(arrived.duration_since(sent.at).as_micros()).unwrap();
        whole.push(took);
        after_answer.push(took.saturating_sub(sent.answered_after));
    }
    whole.sort_unstable();
    after_answer.sort_unstable();
    Latencies {
        whole,
        after_answer,
    }
}

fn send(scene: &Scene, client: u32, rate: u32, begun: Instant, time: Duration) -> Vec<Sent> {
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
        let at = now();
        let (answered_after, _) = connection.send(&request, "201");
        sent.push(Sent {
            invoice,
            at,
            answered_after,
        });
    }
    sent
}
