//! Creates at a steady rate, whether or not they succeed, and the time until each event arrives.

use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::clients::{now, receive};
use crate::receiver::Receiver;
use crate::scene::Scene;

/// Clients that take turns, so that one waiting for its answer delays no other create.
const CLIENTS: u32 = 16;
/// Invoice numbers that no other client uses.
static INVOICES: AtomicU64 = AtomicU64::new(1_000_000_000);

/// From the sending of a create to the arrival of its event, in microseconds, sorted.
pub(crate) struct Latencies(Vec<u64>);

impl Latencies {
    pub(crate) fn percentile(&self, percent: usize) -> u64 {
        let place = self.0.len().saturating_mul(percent) / 100;
        self.0.get(place).copied().unwrap_or_default()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }
}

/// Sends `rate` creates a second, and waits until `receiver` has all their events.
pub(crate) fn run(scene: &Scene, receiver: &Receiver, rate: u32, time: Duration) -> Latencies {
    let heard = receiver.count();
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
    receiver.wait_for(heard.saturating_add(sent.len()));
    let arrivals = receiver.arrivals();
    let took = |(invoice, sent): (u64, Instant)| {
        let arrived = *arrivals.get(&invoice).unwrap();
        u64::try_from(arrived.duration_since(sent).as_micros()).unwrap()
    };
    let mut latencies: Vec<u64> = sent.into_iter().map(took).collect();
    latencies.sort_unstable();
    Latencies(latencies)
}

fn send(
    scene: &Scene,
    client: u32,
    rate: u32,
    begun: Instant,
    time: Duration,
) -> Vec<(u64, Instant)> {
    let stream = TcpStream::connect(scene.address(0)).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    let mut requests = stream;
    let mut sent = Vec::new();
    let step = Duration::from_secs(1).checked_div(rate).unwrap();
    for turn in 0_u32.. {
        let place = turn.saturating_mul(CLIENTS).saturating_add(client);
        let due = step.saturating_mul(place);
        if due >= time {
            break;
        }
        thread::sleep(due.saturating_sub(begun.elapsed()));
        let invoice = INVOICES.fetch_add(1, Ordering::Relaxed);
        let request = scene.create(invoice);
        sent.push((invoice, now()));
        requests.write_all(request.as_bytes()).unwrap();
        receive(&mut answers, "HTTP/1.1 201");
    }
    sent
}
