//! The clock of `serve`, which cannot be set while it runs.
//!
//! It advances by the machine's uptime, starting from its reference: the database's clock, or, on a
//! database without one, the machine's own. A reference that jumps is not followed until it has
//! been stable for a while, so nothing expires or is removed because a clock was set.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::TimeDelta;
use preauth_core::value::Timestamp;

use super::{Clock, Uptime};

/// A clock with a larger offset is wrong; a reference that moves by more has jumped.
pub const MAX_OFFSET: TimeDelta = TimeDelta::seconds(30);
/// How long a reference that jumped has to be stable before it is followed.
const STABLE_AFTER: TimeDelta = TimeDelta::seconds(60);

/// The time of the service in production.
pub struct ServingClock {
    machine: Arc<dyn Clock>,
    uptime: Arc<dyn Uptime>,
    /// Whether the machine's clock is the reference.
    follows_machine: bool,
    state: Mutex<State>,
}

/// A time, and the uptime at that time.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    at: Timestamp,
    uptime: TimeDelta,
}

/// A reading of the reference. It was taken before it arrived, so the anchor is never ahead.
#[derive(Clone, Copy, Debug)]
struct Reading {
    anchor: Anchor,
    took: TimeDelta,
}

#[derive(Clone, Copy, Debug)]
struct State {
    anchor: Anchor,
    /// The position of the reference since it jumped.
    jumped_to: Option<Anchor>,
    /// Whether the machine's clock was another when the anchor was last confirmed: either may have been
    /// wrong.
    is_disputed: bool,
    jumps: u64,
    offset: TimeDelta,
}

/// The result of a comparison with the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The offset of the machine's clock from the database's; zero where the machine's is the
    /// reference.
    pub offset: TimeDelta,
    /// The uncertainty of the offset, because the answer took time.
    pub uncertainty: TimeDelta,
    /// How far the reference is ahead of this clock, while it is not followed after a jump.
    pub jump: Option<TimeDelta>,
    /// Whether this clock may be wrong while its reference is not followed: it was started, or set, by a
    /// reference that the machine's clock contradicted.
    pub is_disputed: bool,
}

impl ServingClock {
    /// A clock whose reference is the machine's.
    #[must_use]
    pub fn by_machine(machine: Arc<dyn Clock>, uptime: Arc<dyn Uptime>) -> Self {
        let anchor = Anchor {
            at: machine.now(),
            uptime: uptime.elapsed(),
        };
        Self::starting_at(anchor, true, machine, uptime)
    }

    /// A clock whose reference is the database's, which answered `database` to a query sent at the
    /// uptime `asked_at`.
    #[must_use]
    pub fn by_database(
        machine: Arc<dyn Clock>,
        uptime: Arc<dyn Uptime>,
        database: Timestamp,
        asked_at: TimeDelta,
    ) -> Self {
        let reading = Reading::of(database, asked_at, uptime.elapsed());
        Self::starting_at(reading.anchor, false, machine, uptime)
    }

    fn starting_at(
        anchor: Anchor,
        follows_machine: bool,
        machine: Arc<dyn Clock>,
        uptime: Arc<dyn Uptime>,
    ) -> Self {
        let offset = machine.now().since(anchor.at);
        Self {
            machine,
            uptime,
            follows_machine,
            state: Mutex::new(State {
                anchor,
                jumped_to: None,
                is_disputed: !follows_machine && is_off(offset),
                jumps: 0,
                offset,
            }),
        }
    }

    /// Compares with the reference, and follows it unless it jumped: with the database's clock,
    /// which answered `database` to a query sent at the uptime `asked_at`, or with the machine's.
    pub fn compare(&self, database: Option<Timestamp>, asked_at: TimeDelta) -> Comparison {
        let uptime = self.uptime.elapsed();
        let machine = self.machine.now();
        let reading = match database.filter(|_| !self.follows_machine) {
            Some(database) => Reading::of(database, asked_at, uptime),
            None => Reading::of(machine, uptime, uptime),
        };
        let mut state = self.state();
        state.follow(reading);
        let reference = reading.anchor.at;
        let uncertainty = reading.took.checked_div(2).unwrap_or_default();
        state.offset = machine.since(reference.saturating_add(uncertainty));
        if state.jumped_to.is_none() {
            state.is_disputed = is_off_by_more_than(state.offset, MAX_OFFSET, uncertainty);
        }
        let now = state.anchor.at_uptime(uptime);
        Comparison {
            offset: state.offset,
            uncertainty,
            jump: state.jumped_to.map(|_| reference.since(now)),
            is_disputed: state.jumped_to.is_some() && state.is_disputed,
        }
    }

    /// The time of the machine's clock, which may be wrong.
    #[must_use]
    pub fn machine_now(&self) -> Timestamp {
        self.machine.now()
    }

    /// The uptime, for [`compare`](Self::compare).
    #[must_use]
    pub fn uptime(&self) -> TimeDelta {
        self.uptime.elapsed()
    }

    /// Whether the machine's clock was set since the last comparison, or is wrong.
    #[must_use]
    pub fn is_suspicious(&self) -> bool {
        let now = self.state().anchor.at_uptime(self.uptime.elapsed());
        is_off(self.machine.now().since(now))
    }

    /// How far the machine's clock was ahead of the reference at the last comparison.
    #[must_use]
    pub fn offset(&self) -> TimeDelta {
        self.state().offset
    }

    /// The number of the reference's jumps.
    #[must_use]
    pub fn jumps(&self) -> u64 {
        self.state().jumps
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ServingClock {
    fn now(&self) -> Timestamp {
        let state = self.state();
        let now = state.anchor.at_uptime(self.uptime.elapsed());
        if !self.follows_machine {
            return now;
        }
        let machine = self.machine.now();
        if state.jumped_to.is_some() || is_off(machine.since(now)) {
            now
        } else {
            machine
        }
    }
}

impl State {
    fn follow(&mut self, reading: Reading) {
        let reference = reading.anchor;
        let ahead = |anchor: Anchor| anchor.at_uptime(reference.uptime).since(reference.at);
        let is_near =
            |anchor: Anchor| !is_off_by_more_than(ahead(anchor), MAX_OFFSET, reading.took);
        if is_near(self.anchor) {
            self.jumped_to = None;
            // A time within the uncertainty is kept, so that answers do not move it back and forth.
            if !(TimeDelta::zero()..=reading.took).contains(&ahead(self.anchor)) {
                self.anchor = reference;
            }
            return;
        }
        if let Some(jumped_to) = self.jumped_to.filter(|jumped_to| is_near(*jumped_to)) {
            let stable_for = reference.uptime.checked_sub(&jumped_to.uptime);
            if stable_for.is_some_and(|stable_for| stable_for >= STABLE_AFTER) {
                (self.anchor, self.jumped_to) = (reference, None);
            }
        } else {
            self.jumped_to = Some(reference);
            self.jumps = self.jumps.saturating_add(1);
        }
    }
}

impl Anchor {
    fn at_uptime(self, uptime: TimeDelta) -> Timestamp {
        let passed = uptime.checked_sub(&self.uptime);
        self.at.saturating_add(passed.unwrap_or_default())
    }
}

impl Comparison {
    /// Whether the offset of the machine's clock exceeds `limit`, even with the uncertainty.
    #[must_use]
    pub fn exceeds(&self, limit: TimeDelta) -> bool {
        is_off_by_more_than(self.offset, limit, self.uncertainty)
    }
}

impl Reading {
    fn of(at: Timestamp, asked_at: TimeDelta, uptime: TimeDelta) -> Self {
        Self {
            anchor: Anchor { at, uptime },
            took: uptime.checked_sub(&asked_at).unwrap_or_default(),
        }
    }
}

fn is_off(deviation: TimeDelta) -> bool {
    is_off_by_more_than(deviation, MAX_OFFSET, TimeDelta::zero())
}

fn is_off_by_more_than(deviation: TimeDelta, limit: TimeDelta, uncertainty: TimeDelta) -> bool {
    let limit = limit.checked_add(&uncertainty).unwrap_or(TimeDelta::MAX);
    deviation.abs() > limit
}

impl fmt::Debug for ServingClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServingClock")
            .field("follows_machine", &self.follows_machine)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use chrono::TimeDelta;
    use preauth_core::value::Timestamp;

    use super::{Clock, ServingClock, Uptime};

    /// A machine whose clock can be set, and whose uptime cannot.
    #[derive(Default)]
    struct Machine {
        uptime: Mutex<TimeDelta>,
        set_by: Mutex<TimeDelta>,
    }

    impl Machine {
        fn pass(&self, seconds: i64) {
            let mut uptime = self.uptime.lock().unwrap();
            *uptime = uptime.checked_add(&TimeDelta::seconds(seconds)).unwrap();
        }

        fn set(&self, by: TimeDelta) {
            let mut set_by = self.set_by.lock().unwrap();
            *set_by = set_by.checked_add(&by).unwrap();
        }
    }

    impl Uptime for Machine {
        fn elapsed(&self) -> TimeDelta {
            *self.uptime.lock().unwrap()
        }
    }

    impl Clock for Machine {
        fn now(&self) -> Timestamp {
            noon()
                .saturating_add(self.elapsed())
                .saturating_add(*self.set_by.lock().unwrap())
        }
    }

    fn noon() -> Timestamp {
        Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap()
    }

    fn passed(clock: &ServingClock) -> i64 {
        clock.now().since(noon()).num_seconds()
    }

    #[test]
    fn the_machines_clock_is_not_followed_before_it_was_stable_for_a_minute_after_a_jump() {
        let machine = Arc::new(Machine::default());
        let clock = ServingClock::by_machine(machine.clone(), machine.clone());
        machine.pass(5);
        assert_eq!(passed(&clock), 5);
        machine.set(TimeDelta::days(31));
        // There was no comparison yet.
        assert_eq!(passed(&clock), 5);
        assert!(clock.is_suspicious());
        let look = |seconds| {
            machine.pass(seconds);
            clock.compare(None, clock.uptime()).jump
        };
        assert_eq!(look(0), Some(TimeDelta::days(31)));
        assert!(look(30).is_some());
        assert_eq!(passed(&clock), 35);
        // Set once more: another minute.
        machine.set(TimeDelta::hours(1));
        assert!(look(0).is_some());
        assert!(look(59).is_some());
        assert_eq!((passed(&clock), clock.jumps()), (94, 2));
        assert_eq!(look(1), None);
        // 31 days, an hour, and the seconds that passed.
        assert_eq!(passed(&clock), 2_682_095);
        assert!(!clock.is_suspicious());
    }

    #[test]
    fn a_clock_that_began_by_a_reference_which_the_machine_contradicts_is_disputed_until_it_follows()
     {
        let machine = Arc::new(Machine::default());
        let wrong = noon().saturating_add(TimeDelta::days(31));
        let uptime = machine.elapsed();
        let clock = ServingClock::by_database(machine.clone(), machine.clone(), wrong, uptime);
        let look = |seconds: i64, database: fn(&Machine) -> Timestamp| {
            machine.pass(seconds);
            clock.compare(Some(database(&machine)), clock.uptime())
        };
        let ahead = |machine: &Machine| machine.now().saturating_add(TimeDelta::days(31));
        let right = |machine: &Machine| machine.now();
        assert!(!look(1, ahead).is_disputed, "it goes by its reference");
        for seconds in [0, 59] {
            let compared = look(seconds, right);
            assert!(compared.jump.is_some() && compared.is_disputed);
        }
        let compared = look(1, right);
        assert!(compared.jump.is_none() && !compared.is_disputed);
        // A jump of both clocks disputes nothing: the time before it was agreed.
        machine.set(TimeDelta::days(31));
        let compared = look(1, right);
        assert!(compared.jump.is_some() && !compared.is_disputed);
    }

    #[test]
    fn a_clock_that_is_set_right_again_ends_a_jump_at_once() {
        let machine = Arc::new(Machine::default());
        let clock = ServingClock::by_machine(machine.clone(), machine.clone());
        machine.set(TimeDelta::minutes(-10));
        assert!(clock.compare(None, clock.uptime()).jump.is_some());
        assert_eq!(passed(&clock), 0);
        machine.set(TimeDelta::minutes(10));
        assert_eq!(clock.compare(None, clock.uptime()).jump, None);
        assert_eq!(passed(&clock), 0);
    }

    #[test]
    fn small_corrections_of_the_machines_clock_are_followed() {
        let machine = Arc::new(Machine::default());
        let clock = ServingClock::by_machine(machine.clone(), machine.clone());
        for _ in 0..10 {
            machine.set(TimeDelta::seconds(29));
            assert_eq!(clock.compare(None, clock.uptime()).jump, None);
        }
        assert_eq!((passed(&clock), clock.jumps()), (290, 0));
    }

    #[test]
    fn beside_a_database_the_machines_clock_is_compared_and_never_followed() {
        let machine = Arc::new(Machine::default());
        machine.set(TimeDelta::days(31));
        let asked_at = machine.elapsed();
        let clock = ServingClock::by_database(machine.clone(), machine.clone(), noon(), asked_at);
        machine.pass(60);
        assert_eq!(passed(&clock), 60);
        let now = noon().saturating_add(TimeDelta::seconds(60));
        let compared = clock.compare(Some(now), clock.uptime());
        assert_eq!(compared.offset, TimeDelta::days(31));
        assert!(compared.exceeds(super::MAX_OFFSET));
        assert_eq!(compared.jump, None);
        machine.set(TimeDelta::days(-31));
        assert!(
            !clock
                .compare(Some(now), clock.uptime())
                .exceeds(TimeDelta::seconds(2))
        );
    }

    #[test]
    fn the_time_that_an_answer_took_is_not_taken_for_an_offset() {
        let machine = Arc::new(Machine::default());
        let clock =
            ServingClock::by_database(machine.clone(), machine.clone(), noon(), TimeDelta::zero());
        let asked_at = clock.uptime();
        machine.pass(8);
        let compared = clock.compare(Some(noon()), asked_at);
        assert_eq!(compared.offset, TimeDelta::seconds(4));
        assert!(!compared.exceeds(TimeDelta::seconds(2)));
        // And does not set the clock.
        assert_eq!(passed(&clock), 8);
        let late = noon().saturating_add(TimeDelta::seconds(-1));
        clock.compare(Some(late), asked_at);
        assert_eq!(passed(&clock), -1);
    }

    #[test]
    fn a_databases_clock_that_jumps_is_not_followed_at_once() {
        let machine = Arc::new(Machine::default());
        let clock =
            ServingClock::by_database(machine.clone(), machine.clone(), noon(), TimeDelta::zero());
        let far = noon().saturating_add(TimeDelta::days(31));
        assert!(clock.compare(Some(far), clock.uptime()).jump.is_some());
        assert_eq!(passed(&clock), 0);
        machine.pass(60);
        let later = far.saturating_add(TimeDelta::seconds(60));
        assert_eq!(clock.compare(Some(later), clock.uptime()).jump, None);
        assert_eq!(clock.now(), later);
    }
}
