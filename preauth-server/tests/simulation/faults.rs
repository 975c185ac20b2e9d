//! The fault point: every call of a port passes through it, and the seed decides the outcome.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::mpsc::UnboundedSender;

use crate::clock::{SimClock, sleep_ms};
use crate::history::{Chronicle, Fact};
use crate::mix::Mix;
use crate::random::{Random, SharedRandom};

/// A call of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    LoadOffer,
    LoadOperation,
    LoadOrder,
    LookUp,
    LoadReply,
    Commit,
    Find,
    List,
    History,
    Overdue,
    Claim,
    Finish,
    NoteSlow,
    Release,
    NextDue,
    /// The create of a company or a key.
    Register,
    Send,
    ClaimMails,
    FinishMail,
    ReleaseMail,
    SendMail,
}

/// The fault at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing is done, and the caller is informed.
    Fails,
    /// A write is not done, and its outcome is unknown to the caller.
    FailsUnknown,
    /// The call is done, and its answer is lost.
    LosesAnswer,
    /// A write is done some time after its answer was lost.
    LandsLate,
    /// A commit is refused with a conflict although there is none.
    Conflicts,
    /// Somebody has locked a row: a write or the outcome of an attempt waits for it and may be
    /// refused, and all else leaves it out.
    StaysLocked,
    /// The instance dies before the call takes effect.
    KillsBefore,
    /// The instance dies after the call took effect.
    KillsAfter,
    /// A delivery is lost between its commit and the dispatcher, which leaves it to its lease. This is no
    /// call: hand-overs are counted on their own.
    LosesHandover,
}

/// Exactly one fault, at one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planned {
    /// Calls, or hand-overs, are counted from 0.
    pub(crate) position: usize,
    pub(crate) fault: Fault,
}

/// The state shared by all fault points of a run.
#[derive(Debug)]
pub(crate) struct Faults {
    mix: Mix,
    planned: Option<Planned>,
    random: SharedRandom,
    clock: Arc<SimClock>,
    chronicle: Chronicle,
    kills: UnboundedSender<usize>,
    is_quiet: AtomicBool,
    calls: Mutex<Vec<Call>>,
    handovers: AtomicUsize,
    trace: AtomicU64,
}

impl Faults {
    pub(crate) fn new(
        mix: Mix,
        planned: Option<Planned>,
        random: Random,
        clock: Arc<SimClock>,
        chronicle: Chronicle,
        kills: UnboundedSender<usize>,
    ) -> Self {
        Self {
            mix,
            planned,
            random: SharedRandom::new(random),
            clock,
            chronicle,
            kills,
            is_quiet: AtomicBool::new(false),
            calls: Mutex::default(),
            handovers: AtomicUsize::new(0),
            trace: AtomicU64::new(0),
        }
    }

    pub(crate) const fn mix(&self) -> &Mix {
        &self.mix
    }

    /// Ends the faults: every later call succeeds.
    pub(crate) fn end(&self) {
        self.is_quiet.store(true, Ordering::Relaxed);
    }

    pub(crate) fn are_over(&self) -> bool {
        self.is_quiet.load(Ordering::Relaxed)
    }

    /// Every call so far that could meet a fault, in order.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    /// A hash of every call and its time.
    pub(crate) fn trace(&self) -> u64 {
        self.trace.load(Ordering::Relaxed)
    }

    pub(crate) fn draw<T>(&self, draw: impl FnOnce(&mut Random) -> T) -> T {
        self.random.draw(draw)
    }

    /// Whether a fault of this rate, per thousand, occurs where no call can meet it.
    pub(crate) fn hits(&self, rate: u64) -> bool {
        !self.are_over() && self.draw(|random| random.chance(rate))
    }

    /// Whether the delivery that a commit hands over now is lost.
    pub(crate) fn loses_handover(&self) -> bool {
        let position = self.handovers.fetch_add(1, Ordering::Relaxed);
        let is_drawn = self.hits(self.mix.loses_handover);
        let planned = self.planned.filter(|it| it.fault == Fault::LosesHandover);
        planned.map_or(is_drawn, |it| it.position == position)
    }

    /// The start of a call: returns its fault, if any.
    ///
    /// Never returns when the instance dies here.
    pub(crate) async fn meet(&self, instance: usize, call: Call) -> Option<Fault> {
        self.add_to_trace(instance, call);
        if self.draw(|random| random.chance(self.mix.yields)) {
            tokio::task::yield_now().await;
        }
        if !self.are_over() && self.draw(|random| random.chance(self.mix.delays)) {
            sleep_ms(self.draw(|random| random.between(1, self.mix.max_delay_ms))).await;
        }
        if self.are_over() {
            return None;
        }
        let position = self.count(call);
        let planned = self.planned.filter(|planned| {
            planned.position == position && planned.fault != Fault::LosesHandover
        });
        let fault = match planned {
            Some(planned) => call.can_meet(planned.fault).then_some(planned.fault),
            None => self.draw(|random| drawn(&self.mix, call, random)),
        }?;
        self.chronicle.note(Fact::Faulted {
            instance,
            call,
            fault,
        });
        if fault == Fault::KillsBefore {
            self.die(instance).await;
        }
        Some(fault)
    }

    /// The end of a call that took effect. Never returns when the instance dies here.
    pub(crate) async fn leave(&self, instance: usize, fault: Option<Fault>) {
        if fault == Some(Fault::KillsAfter) {
            self.die(instance).await;
        }
    }

    async fn die(&self, instance: usize) {
        // Without a listener the run is over.
        let _ = self.kills.send(instance);
        std::future::pending::<()>().await;
    }

    /// The call's position, counted from 0.
    fn count(&self, call: Call) -> usize {
        let mut calls = self.calls.lock().unwrap();
        calls.push(call);
        calls.len() - 1
    }

    fn add_to_trace(&self, instance: usize, call: Call) {
        let moment = self.clock.elapsed().num_milliseconds().unsigned_abs();
        let place = u64::try_from(instance).unwrap() * 32 + call as u64;
        let trace = self.trace.load(Ordering::Relaxed) ^ (moment * 64 + place);
        self.trace
            .store(Random::new(trace).next(), Ordering::Relaxed);
    }
}

impl Call {
    /// Whether a fault is possible at this call.
    pub(crate) const fn can_meet(self, fault: Fault) -> bool {
        match fault {
            Fault::Fails | Fault::KillsBefore | Fault::KillsAfter => true,
            Fault::LosesAnswer => {
                matches!(
                    self,
                    Self::Commit
                        | Self::Claim
                        | Self::Finish
                        | Self::Release
                        | Self::Register
                        | Self::ClaimMails
                        | Self::FinishMail
                        | Self::ReleaseMail
                )
            }
            Fault::StaysLocked => matches!(
                self,
                Self::Commit
                    | Self::Claim
                    | Self::Finish
                    | Self::NoteSlow
                    | Self::Register
                    | Self::ClaimMails
                    | Self::FinishMail
            ),
            Fault::FailsUnknown | Fault::LandsLate => {
                matches!(self, Self::Commit | Self::Register)
            }
            Fault::Conflicts => matches!(self, Self::Commit),
            Fault::LosesHandover => false,
        }
    }
}

/// Instances die at a mail so many times more often than elsewhere: a run has few mails.
const KILLS_AT_MAILS: u64 = 16;

fn drawn(mix: &Mix, call: Call, random: &mut Random) -> Option<Fault> {
    let stays_locked = if call == Call::Register {
        mix.holds_records
    } else {
        mix.stays_locked
    };
    let rates = [
        (Fault::Fails, mix.fails),
        (Fault::FailsUnknown, mix.loses_answer / 2),
        (Fault::LosesAnswer, mix.loses_answer),
        (Fault::LandsLate, mix.lands_late),
        (Fault::Conflicts, mix.conflicts),
        (Fault::StaysLocked, stays_locked),
    ];
    let kills = match call {
        Call::ClaimMails | Call::SendMail | Call::FinishMail => mix.kills * KILLS_AT_MAILS,
        _ => mix.kills,
    };
    if random.below(100_000) < kills {
        let kinds = [Fault::KillsBefore, Fault::KillsAfter];
        return Some(random.pick(&kinds));
    }
    // Receivers and the mail server have their own faults.
    if matches!(call, Call::Send | Call::SendMail) {
        return None;
    }
    let mut possible = rates.into_iter().filter(|(fault, _)| call.can_meet(*fault));
    let found = possible.find(|(_, rate)| random.chance(*rate));
    found.map(|(fault, _)| fault)
}
