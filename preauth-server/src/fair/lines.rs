//! A line for each tenant, served in turn.

use std::collections::{HashMap, VecDeque};

use super::Tenant;

/// What waits, in a line for each tenant. The service's own work has every second place.
#[derive(Debug)]
pub(super) struct Lines<T> {
    tenants: HashMap<Tenant, VecDeque<T>>,
    /// Tenants with a line, the next one first.
    turns: VecDeque<Tenant>,
    service: VecDeque<T>,
    is_services_turn: bool,
    /// Of tenants; the service is not counted.
    length: usize,
}

/// What is to be done with the first of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is served.
    Serve,
    /// Its tenant is passed over.
    Skip,
    /// It is next, and must wait; and so must all behind it.
    Hold,
}

impl<T> Lines<T> {
    pub(super) fn new() -> Self {
        Self {
            tenants: HashMap::new(),
            turns: VecDeque::new(),
            service: VecDeque::new(),
            is_services_turn: true,
            length: 0,
        }
    }

    pub(super) fn push(&mut self, tenant: Tenant, item: T) {
        if tenant == Tenant::Service {
            self.service.push_back(item);
            return;
        }
        let line = self.tenants.entry(tenant).or_default();
        if line.is_empty() {
            self.turns.push_back(tenant);
        }
        line.push_back(item);
        self.length = self.length.saturating_add(1);
    }

    /// The first of whose turn it is.
    pub(super) fn pop(&mut self) -> Option<T> {
        if self.is_services_turn || self.turns.is_empty() {
            self.is_services_turn = false;
            if let Some(item) = self.service.pop_front() {
                return Some(item);
            }
        }
        self.is_services_turn = true;
        let tenant = self.turns.front().copied()?;
        self.take_from(tenant, 0)
    }

    /// The first that `verdict` lets pass, the service's before all others.
    pub(super) fn pop_where(&mut self, verdict: impl Fn(Tenant, &T) -> Verdict) -> Option<T> {
        if let Some(first) = self.service.front() {
            return match verdict(Tenant::Service, first) {
                Verdict::Serve => self.service.pop_front(),
                Verdict::Skip | Verdict::Hold => None,
            };
        }
        for (turn, tenant) in self.turns.iter().copied().enumerate() {
            let first = self.tenants.get(&tenant).and_then(VecDeque::front);
            match first.map_or(Verdict::Skip, |first| verdict(tenant, first)) {
                Verdict::Serve => return self.take_from(tenant, turn),
                Verdict::Skip => {}
                Verdict::Hold => return None,
            }
        }
        None
    }

    /// Makes room for one more of `tenant` where all lines are full: gives back the newest of the
    /// longest line. None if its own is the longest.
    pub(super) fn evict_for(&mut self, tenant: Tenant) -> Option<T> {
        let own = self.tenants.get(&tenant).map_or(0, VecDeque::len);
        let (longest, length) = self
            .tenants
            .iter()
            .map(|(tenant, line)| (*tenant, line.len()))
            .max_by_key(|(_, length)| *length)?;
        if length <= own.saturating_add(1) {
            return None;
        }
        let evicted = self.tenants.get_mut(&longest)?.pop_back();
        self.length = self.length.saturating_sub(1);
        evicted
    }

    /// Gives back what `is_over` says of.
    pub(super) fn remove_where(&mut self, is_over: impl Fn(&T) -> bool) -> Vec<T> {
        let mut removed = Vec::new();
        for line in self.tenants.values_mut() {
            let (over, rest): (VecDeque<T>, VecDeque<T>) = line.drain(..).partition(&is_over);
            removed.extend(over);
            *line = rest;
        }
        self.tenants.retain(|_, line| !line.is_empty());
        self.turns
            .retain(|tenant| self.tenants.contains_key(tenant));
        self.length = self.length.saturating_sub(removed.len());
        removed
    }

    pub(super) fn drain(&mut self) -> Vec<T> {
        let mut all = self.remove_where(|_| true);
        all.extend(self.service.drain(..));
        all
    }

    /// How many of tenants wait.
    pub(super) const fn len(&self) -> usize {
        self.length
    }

    /// How many of the service's own wait.
    pub(super) fn len_of_service(&self) -> usize {
        self.service.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length == 0 && self.service.is_empty()
    }

    /// Takes the first of a line, and moves its tenant from place `turn` to the end of all.
    fn take_from(&mut self, tenant: Tenant, turn: usize) -> Option<T> {
        self.turns.remove(turn);
        let line = self.tenants.get_mut(&tenant)?;
        let item = line.pop_front()?;
        if line.is_empty() {
            self.tenants.remove(&tenant);
        } else {
            self.turns.push_back(tenant);
        }
        self.length = self.length.saturating_sub(1);
        Some(item)
    }
}
