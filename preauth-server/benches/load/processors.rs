//! Which processors a process may use.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::cpu;

/// All processors of the machine, and their halves. What a benchmark changes ends with the value.
pub(crate) struct Processors {
    all: CpuSet,
    halves: Option<[CpuSet; 2]>,
}

#[derive(Clone, Copy)]
pub(crate) enum Share {
    FirstHalf,
    SecondHalf,
    All,
}

impl Processors {
    /// A single processor has no halves.
    pub(crate) fn halved() -> Self {
        let all = sched_getaffinity(None).unwrap();
        let numbers: Vec<_> = (0..CpuSet::MAX_CPU).filter(|it| all.is_set(*it)).collect();
        let (first, second) = numbers.split_at(numbers.len() / 2);
        let halves = [first, second].map(|half| {
            let mut set = CpuSet::new();
            for processor in half {
                set.set(*processor);
            }
            set
        });
        let halves = (!first.is_empty()).then_some(halves);
        Self { all, halves }
    }

    /// Threads and processes that begin from now on have these.
    pub(crate) fn use_for_new(&self, share: Share) {
        sched_setaffinity(None, self.of(share)).unwrap();
    }

    /// A process and all its descendants have these.
    pub(crate) fn give(&self, process: u32, share: Share) {
        for process in cpu::family(process) {
            let pid = Pid::from_raw(process.try_into().unwrap());
            // It may have ended.
            let _ = sched_setaffinity(pid, self.of(share));
        }
    }

    fn of(&self, share: Share) -> &CpuSet {
        match (share, &self.halves) {
            (Share::FirstHalf, Some([first, _])) => first,
            (Share::SecondHalf, Some([_, second])) => second,
            (Share::All, _) | (_, None) => &self.all,
        }
    }
}

impl Drop for Processors {
    fn drop(&mut self) {
        sched_setaffinity(None, &self.all).unwrap();
    }
}
