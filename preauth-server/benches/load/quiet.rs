//! The requests of a load, and those of the quiet company beside it.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::clients::next_invoice;
use crate::company::Company;
use crate::connection::{Connection, now};
use crate::receiver::Receiver;

/// The rate of the quiet company's requests.
const PER_SECOND: u32 = 40;
/// The query of the load's lists.
const LIST: &str = "?limit=100";

/// The kind of request that the load sends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load {
    Creates,
    Lists,
}

/// The quiet company's measurements, in microseconds, sorted.
pub(crate) struct Quiet {
    pub(crate) figures: Vec<(&'static str, Vec<u64>)>,
}

/// The quiet company's requests.
pub(crate) struct Paced {
    load: Load,
    took: Vec<u64>,
    sent: Vec<(u64, Instant)>,
    /// Creates, with the one that a get asks for.
    created: usize,
}

/// One client of the load; returns the number of its creates.
pub(crate) fn flood(
    address: &str,
    company: &Company,
    load: Load,
    begun: Instant,
    time: Duration,
) -> usize {
    let mut connection = Connection::to(address);
    let mut created = 0;
    while begun.elapsed() < time {
        match load {
            Load::Creates => {
                connection.send(&company.create(next_invoice(), 0), "201");
                created += 1;
            }
            Load::Lists => {
                connection.send(&company.get(LIST), "200");
            }
        }
    }
    created
}

/// The quiet company's requests, evenly paced: a create beside creates, a get beside lists.
pub(crate) fn pace(
    address: &str,
    company: &Company,
    load: Load,
    begun: Instant,
    time: Duration,
) -> Paced {
    let mut connection = Connection::to(address);
    let (_, created) = connection.send(&company.create(next_invoice(), 0), "201");
    let created: Value = serde_json::from_slice(&created).unwrap();
    let get = company.get(&format!("/{}", created.get("id").unwrap()));
    let mut paced = Paced {
        load,
        took: Vec::new(),
        sent: Vec::new(),
        created: 1,
    };
    let step = Duration::from_secs(1) / PER_SECOND;
    for turn in 1_u32.. {
        let due = step * turn;
        if due >= time {
            break;
        }
        thread::sleep(due.saturating_sub(begun.elapsed()));
        let took = match load {
            Load::Creates => {
                let invoice = next_invoice();
                paced.created += 1;
                paced.sent.push((invoice, now()));
                connection.send(&company.create(invoice, 0), "201").0
            }
            Load::Lists => connection.send(&get, "200").0,
        };
        paced.took.push(took);
    }
    paced
}

impl Paced {
    /// Waits until the events of all creates have arrived: `others` before these and beside them.
    pub(crate) fn arrived(self, receiver: &Receiver, others: usize) -> Quiet {
        receiver.wait_for(others + self.created);
        let arrivals = receiver.arrivals();
        let deliveries = self.sent.into_iter().map(|(invoice, sent)| {
            let took = arrivals.get(&invoice).unwrap().duration_since(sent);
            u64::try_from(took.as_micros()).unwrap()
        });
        let deliveries = ("deliveries", sorted(deliveries.collect()));
        let figures = match self.load {
            Load::Creates => vec![("creates", sorted(self.took)), deliveries],
            Load::Lists => vec![("gets beside lists", sorted(self.took))],
        };
        Quiet { figures }
    }
}

fn sorted(mut micros: Vec<u64>) -> Vec<u64> {
    micros.sort_unstable();
    micros
}
