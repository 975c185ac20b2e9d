//! A line for each tenant, served in turn.

use std::collections::{HashMap, VecDeque};

use super::Tenant;

/// The waiting requests, in a line per tenant. Every second place belongs to the service's own
/// work.
#[derive(Debug)]
pub(super) struct Lines<T> {
    tenants: HashMap<Tenant, VecDeque<T>>,
    /// Tenants with a line, in the order of their turns.
    turns: VecDeque<Tenant>,
    service: VecDeque<T>,
    is_services_turn: bool,
    /// The number of tenants' requests; the service's own are not counted.
    length: usize,
}

/// The decision on the first request of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueueDecision {
    /// Serve it.
    Serve,
    /// Pass over its tenant.
    Skip,
    /// It is next and must wait, and all behind it as well.
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

    /// The first request of the tenant whose turn it is.
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

    /// The first request that `decide` serves; the service's own come before all others.
    pub(super) fn pop_where(&mut self, decide: impl Fn(Tenant, &T) -> QueueDecision) -> Option<T> {
        if let Some(first) = self.service.front() {
            return match decide(Tenant::Service, first) {
                QueueDecision::Serve => self.service.pop_front(),
                QueueDecision::Skip | QueueDecision::Hold => None,
            };
        }
        for (turn, tenant) in self.turns.iter().copied().enumerate() {
            let first = self.tenants.get(&tenant).and_then(VecDeque::front);
            match first.map_or(QueueDecision::Skip, |first| decide(tenant, first)) {
                QueueDecision::Serve => return self.take_from(tenant, turn),
                QueueDecision::Skip => {}
                QueueDecision::Hold => return None,
            }
        }
        None
    }

    /// Makes room for one more request of `tenant` when all lines are full: removes and returns the
    /// newest of the longest line. `None` if the tenant's own line is the longest.
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

    /// Removes and returns the requests for which `is_over` holds.
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

    /// The oldest request of a tenant.
    pub(super) fn first_of(&self, tenant: Tenant) -> Option<&T> {
        self.tenants.get(&tenant)?.front()
    }

    /// The number of tenants' waiting requests.
    pub(super) const fn len(&self) -> usize {
        self.length
    }

    /// Whether no tenant's request waits.
    pub(super) const fn has_no_tenant(&self) -> bool {
        self.length == 0
    }

    /// The number of the service's own waiting requests.
    pub(super) fn len_of_service(&self) -> usize {
        self.service.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length == 0 && self.service.is_empty()
    }

    /// Takes the first of a line, and moves its tenant from place `turn` to the end of the order.
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
