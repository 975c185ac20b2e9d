//! The time from a create to the arrival of its event, at moderate load.

use crate::paced;
use crate::run::Run;
use crate::stage::Stage;
use crate::table::Table;
use crate::table::Target::AtMost;

const PER_SECOND: u32 = 100;

pub(crate) fn run(run: &Run, table: &mut Table) {
    let stage = Stage::new(run);
    let measured = |time| paced::run(&stage.scene, &stage.payers, PER_SECOND, time);
    measured(run.warm_up());
    for _ in 0..run.pairs {
        let sorted = measured(run.time()).whole;
        for (percent, most) in [(50, 4000), (99, 10_000)] {
            let what = format!("create to receipt at {PER_SECOND} a second: p{percent}");
            let latency = crate::statistics::percentile(&sorted, percent);
            table.figure(&what, AtMost(most), " us", latency);
        }
    }
}
