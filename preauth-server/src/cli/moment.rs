//! The time by which a command that works on the database itself decides what cannot be undone.

use preauth_core::value::Timestamp;

use crate::clock::{Clock, MAX_OFFSET, SystemClock};
use crate::store::Lifecycle;

use super::CliError;

/// The time of the database's clock. On a database without one it is this machine's, which must not be
/// behind the latest recorded time unless the operator trusts it, as in `serve`.
pub(super) async fn moment(
    lifecycle: &dyn Lifecycle,
    trusts_clock: bool,
) -> Result<Timestamp, CliError> {
    let moments = lifecycle.moments().await?;
    let machine = SystemClock.now();
    let now = moments.now.unwrap_or(machine);
    let behind = moments.latest_recorded.map(|latest| latest.since(machine));
    match behind.filter(|behind| *behind > MAX_OFFSET) {
        Some(behind) if moments.now.is_none() && !trusts_clock => Err(format!(
            "this machine's clock is {} s behind the latest recorded moment: set it right (or, if the \
             clock is right and that moment is not, set PREAUTH_TRUST_CLOCK=true)",
            behind.num_seconds()
        )
        .into()),
        _ => Ok(now),
    }
}
