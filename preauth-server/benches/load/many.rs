//! A night's offers by the client, in batches, until the last one is durable.

use tokio::runtime;

use crate::clients::{self, next_invoice};
use crate::connection::{micros, now};
use crate::run::Run;
use crate::scene::Scene;
use crate::server::Disk;
use crate::statistics::grouped;
use crate::table::Table;
use crate::table::Target::{AtMost, None};

const OFFERS: u64 = 10_000;
const OFFERS_OF_A_SHORT_RUN: u64 = 250;
const MAX_MS: u64 = 3_000;
const CLIENTS_OF_WARM_UP: usize = 64;

pub(crate) fn run(run: &Run, table: &mut Table) {
    on(&Scene::postgres(run), "PostgreSQL", run, table);
    on(&Scene::sqlite(Disk::Own), "SQLite", run, table);
}

fn on(scene: &Scene, database: &str, run: &Run, table: &mut Table) {
    let offers = run.size(OFFERS, OFFERS_OF_A_SHORT_RUN);
    let what = format!("{} offers by the client, {database}", grouped(offers));
    clients::creates(scene, CLIENTS_OF_WARM_UP, run.warm_up());
    // Two of them have up to eight batches on their way, one has four.
    run.alternate(
        || sent_ms(scene, offers, 1),
        || sent_ms(scene, offers, 2),
        |by_one, by_two| {
            table.figure(&what, AtMost(MAX_MS), " ms", by_one);
            table.figure(&format!("{what}, halves at once"), None, " ms", by_two);
        },
    );
}

/// Milliseconds until so many clients at once, in one program, have sent all of these offers.
fn sent_ms(scene: &Scene, offers: u64, clients: u64) -> u64 {
    let each = offers / clients;
    let given: Vec<Vec<_>> = (0..clients)
        .map(|_| {
            (0..each)
                .map(|_| scene.payer.offer(next_invoice()))
                .collect()
        })
        .collect();
    let client = scene.payer.client(scene.address(0));
    let program = runtime::Builder::new_current_thread().enable_all().build();
    let begun = now();
    program.unwrap().block_on(async {
        let sending = given.into_iter().map(async |offers| {
            let mut sending = client.create_many(offers).unwrap();
            while let Some(outcome) = sending.next().await {
                outcome.unwrap().result.unwrap();
            }
            sending.progress()
        });
        for progress in futures_util::future::join_all(sending).await {
            assert_eq!(progress.created, progress.total, "each is new");
        }
    });
    micros(begun) / 1000
}
