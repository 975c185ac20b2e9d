//! A receiver that takes 100 ms for each answer, alone: events per second.

use std::time::Duration;

use crate::clients;
use crate::connection::{micros, now};
use crate::receiver::Receiver;
use crate::run::Run;
use crate::stage::Stage;
use crate::table::Table;
use crate::table::Target::None;

const ROUND_TRIP: Duration = Duration::from_millis(100);
const CLIENTS: usize = 16;

pub(crate) fn run(run: &Run, table: &mut Table) {
    let stage = Stage::new(run);
    let far = Receiver::start(ROUND_TRIP);
    stage.register_endpoint(&stage.scene.payer.id, &far);
    let time = Duration::from_millis(run.size(2000, 300));
    for _ in 0..run.pairs {
        let received = far.count();
        stage.pause(true);
        let waiting = clients::creates(&stage.scene, CLIENTS, time).count();
        let begun = now();
        stage.pause(false);
        far.wait_for(received + usize::try_from(waiting).unwrap());
        let what = "deliver what waits for one receiver 100 ms away: rate";
        let rate = waiting * 1_000_000 / micros(begun);
        table.figure(what, None, "/s", rate);
    }
}
