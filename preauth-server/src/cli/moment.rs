//! The time by which a command that works on the database itself decides what cannot be undone.

use std::sync::Arc;

use preauth_core::value::Timestamp;

use crate::clock::{BootTime, Clock, MAX_OFFSET, ServingClock, SystemClock, Uptime};
use crate::hold_watch;
use crate::store::Lifecycle;

use super::CliError;

/// The time of the database's clock, from which this machine's must not differ by more than `serve` allows. On
/// a database without one it is this machine's, which must not be behind the latest recorded time unless the
/// operator trusts it, as in `serve`.
pub(super) async fn moment(
    lifecycle: &dyn Lifecycle,
    trusts_clock: bool,
) -> Result<Timestamp, CliError> {
    let asked_at = BootTime.elapsed();
    let moments = lifecycle.moments().await?;
    let machine = SystemClock.now();
    if let Some(now) = moments.now {
        let (system, uptime) = (Arc::new(SystemClock), Arc::new(BootTime));
        let clock = ServingClock::by_database(system, uptime, now, asked_at);
        let compared = clock.compare(Some(now), asked_at);
        if compared.exceeds(MAX_OFFSET) {
            let why = hold_watch::offset(&compared);
            return Err(format!(
                "{why}: set the wrong one right, then run this command again; nothing was changed"
            )
            .into());
        }
        return Ok(now);
    }
    match moments.behind(machine).filter(|_| !trusts_clock) {
        Some(behind) => Err(format!(
            "{behind}: set it right (or, if the clock is right and that moment is not, set \
             PREAUTH_TRUST_CLOCK=true)"
        )
        .into()),
        None => Ok(machine),
    }
}
