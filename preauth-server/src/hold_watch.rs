//! The watch that decides whether an instance must be held: it compares clocks and checks the owner
//! of the database, at the start, every minute, and as soon as this machine's clock moves or another server takes the place of
//! the database's.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::port::Unavailable;

use crate::clock::{Comparison, MAX_OFFSET, ServingClock};
use crate::hold::{DeploymentId, Hold, HoldReason, Identity, Ownership, ownership};
use crate::store::{Lifecycle, Moments};
use crate::worker::{LoopHealth, Shutdown, pause};

/// Minimum offset for a warning.
pub(crate) const NOTABLE_OFFSET: TimeDelta = TimeDelta::seconds(2);
/// Interval of comparing this machine's clock with its uptime, which is cheap.
const TICK: Duration = Duration::from_secs(1);
/// Interval of database checks.
const LOOK_EVERY: TimeDelta = TimeDelta::seconds(60);
/// Interval of database checks while the instance is held.
const LOOK_EVERY_WHILE_HELD: TimeDelta = TimeDelta::seconds(5);
/// A check is three reads, each of which the database gives up after 45 s.
const STALLS_AFTER: TimeDelta = TimeDelta::minutes(5);
/// Minimum pause in recording that is logged at the start.
const NOTABLE_PAUSE: TimeDelta = TimeDelta::minutes(5);

/// Holds an instance while its clock is wrong or its database is another deployment's.
pub struct HoldWatch {
    /// The hold that it sets.
    pub hold: Hold,
    /// The service's clock.
    pub clock: Arc<ServingClock>,
    /// The source of the database's times.
    pub lifecycle: Arc<dyn Lifecycle>,
    /// The source of the database's owner.
    pub identity: Arc<dyn Identity>,
    /// The id that the operator gave to this deployment.
    pub deployment: Option<DeploymentId>,
    /// Whether the operator declares the clock correct, however late the latest recorded time is.
    pub trusts_clock: bool,
    /// The health of the watch itself.
    pub health: Arc<LoopHealth>,
}

impl HoldWatch {
    /// The health of a watch.
    #[must_use]
    pub fn health() -> Arc<LoopHealth> {
        Arc::new(LoopHealth::new("watch", STALLS_AFTER))
    }

    /// Checks for the first time, and logs how long nothing was recorded. A database without owner
    /// is assigned to this deployment, unless the instance only reads.
    pub async fn begin(&self) -> Result<(), Unavailable> {
        let moments = self.look_at_clock().await?;
        if let Some(latest) = moments.latest_recorded {
            let pause = self.clock.machine_now().since(latest);
            if pause > NOTABLE_PAUSE {
                let seconds = pause.num_seconds();
                tracing::info!(target: "hold", %latest, seconds, "nothing was recorded for a while");
            }
        }
        self.look_at_deployment().await
    }

    /// Checks at intervals, until shutdown is requested.
    pub async fn run(&self, mut shutdown: Shutdown) {
        let mut looked_at = self.clock.uptime();
        let mut was_suspicious = false;
        let mut switches = self.lifecycle.switches();
        while !shutdown.is_requested() {
            pause(TICK, &mut shutdown).await;
            let is_suspicious = self.clock.is_suspicious();
            let passed = self.clock.uptime().checked_sub(&looked_at);
            let every = if is_suspicious || self.hold.is_held() {
                LOOK_EVERY_WHILE_HELD
            } else {
                LOOK_EVERY
            };
            let is_due = passed.is_none_or(|passed| passed >= every);
            let switches_now = self.lifecycle.switches();
            let is_elsewhere = switches_now != switches;
            if is_due || is_elsewhere || (is_suspicious && !was_suspicious) {
                switches = switches_now;
                looked_at = self.clock.uptime();
                self.health.observe(self.look().await);
            } else {
                self.health.note(true);
            }
            was_suspicious = is_suspicious;
        }
    }

    /// Compares the clocks, and checks the owner of the database.
    pub async fn look(&self) -> Result<(), Unavailable> {
        self.look_at_clock().await?;
        self.look_at_deployment().await
    }

    async fn look_at_clock(&self) -> Result<Moments, Unavailable> {
        let asked_at = self.clock.uptime();
        let moments = self.lifecycle.moments().await?;
        let compared = self.clock.compare(moments.now, asked_at);
        self.hold_for_jump(&compared, moments.now.is_some());
        let behind = moments.behind(self.clock.machine_now());
        let behind = behind.filter(|_| !self.trusts_clock).map(|behind| {
            format!(
                "{behind} (if the clock is right and that moment is not, start with --trust-clock)"
            )
        });
        if compared.exceeds(MAX_OFFSET) || behind.is_some() {
            let why = behind.unwrap_or_else(|| offset(&compared));
            let text = format!("{why}; set it right: until then every request is answered 503");
            self.hold.begin(HoldReason::ClockOff, &text);
        } else if compared.is_disputed {
            // The time before the jump may have been the wrong one.
            let text = "the database's clock was set right after it had been contradicted by this \
                        machine's: every request is answered 503 until it has been stable for a minute";
            self.hold.begin(HoldReason::ClockOff, text);
        } else {
            self.hold.end(HoldReason::ClockOff);
        }
        let is_notable = compared.exceeds(NOTABLE_OFFSET);
        self.hold.warn(is_notable.then(|| offset(&compared)));
        Ok(moments)
    }

    fn hold_for_jump(&self, compared: &Comparison, is_database: bool) {
        let Some(jump) = compared.jump else {
            self.hold.end(HoldReason::ClockJumped);
            return;
        };
        let whose = if is_database {
            "the database's clock"
        } else {
            "this machine's clock"
        };
        let text = format!(
            "{whose} jumped by {} s while the server ran; loops rest until it has been stable for a \
             minute",
            jump.num_seconds()
        );
        self.hold.begin(HoldReason::ClockJumped, &text);
    }

    async fn look_at_deployment(&self) -> Result<(), Unavailable> {
        let given = self.deployment.as_ref();
        let mut stored = self.identity.deployment().await?;
        if stored.is_none() && !self.hold.is_held_for(HoldReason::QuietOutbound) {
            let id = given.cloned().unwrap_or_else(DeploymentId::random);
            self.identity.claim(&id, given.is_some()).await?;
            // Another instance may have claimed it first.
            stored = self.identity.deployment().await?;
        }
        match ownership(given, stored.as_ref()) {
            Ownership::Ours | Ownership::Nobodys => self.hold.end(HoldReason::ForeignDatabase),
            Ownership::Foreign(why) => self.hold.begin(HoldReason::ForeignDatabase, &why),
        }
        Ok(())
    }
}

/// The operator's text when this machine's clock differs from the database's.
pub(crate) fn offset(compared: &Comparison) -> String {
    let tenths = compared.offset.num_milliseconds().unsigned_abs() / 100;
    let (whole, tenth) = (tenths / 10, tenths % 10);
    let side = if compared.offset > TimeDelta::zero() {
        "ahead of"
    } else {
        "behind"
    };
    format!("this machine's clock is {whole}.{tenth} s {side} the database's")
}

impl fmt::Debug for HoldWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HoldWatch")
            .field("hold", &self.hold)
            .finish_non_exhaustive()
    }
}
