//! A healthy receiver, first alone, then beside one that takes five seconds for every answer.

use std::time::Duration;

use crate::receiver::Receiver;
use crate::stage::Stage;
use crate::{paced, pairs};

const PER_SECOND: u32 = 200;
const SLOWNESS: Duration = Duration::from_secs(5);
const WARM_UP: Duration = Duration::from_secs(3);

pub(crate) fn run(seconds: u64) {
    let stage = Stage::new();
    let slow = Receiver::start(SLOWNESS);
    let time = Duration::from_secs(seconds);
    let run = |time| paced::run(&stage.scene, &stage.payers, PER_SECOND, time);
    run(WARM_UP);
    let alone = || {
        stage.delete_endpoint("supplier");
        run(time)
    };
    let beside = || {
        stage.register_endpoint("supplier", &slow);
        run(time)
    };
    pairs::compare("beside a slow one", PER_SECOND, alone, beside);
    println!("the slow one has heard of {} events", slow.count());
}
