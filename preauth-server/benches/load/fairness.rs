//! A healthy receiver, first alone, then beside one that takes five seconds for every answer.

use std::time::Duration;

use crate::paced;
use crate::receiver::Receiver;
use crate::run::Run;
use crate::stage::Stage;
use crate::statistics::percentile;
use crate::table::Table;
use crate::table::Target::AtMost;

const PER_SECOND: u32 = 200;
const SLOWNESS: Duration = Duration::from_secs(5);

pub(crate) fn run(run: &Run, table: &mut Table) {
    let stage = Stage::new(run);
    let slow = Receiver::start(SLOWNESS);
    let supplier = &stage.scene.supplier;
    let measured = |time| paced::run(&stage.scene, &stage.payers, PER_SECOND, time);
    measured(run.warm_up());
    run.alternate(
        || {
            stage.delete_endpoint(supplier);
            measured(run.time())
        },
        || {
            stage.register_endpoint(supplier, &slow);
            measured(run.time())
        },
        |alone, beside| {
            let what = format!("healthy endpoint beside a slow one, {PER_SECOND} a second: p99");
            let p99s = (percentile(&beside.whole, 99), percentile(&alone.whole, 99));
            table.ratio(&what, "alone", AtMost(120), " us", p99s);
            // The rest is the create's own time, and the disk's.
            let p99 = percentile(&beside.after_answer, 99);
            let what = format!("{what} after the create's answer");
            table.figure(&what, AtMost(20_000), " us", p99);
        },
    );
}
