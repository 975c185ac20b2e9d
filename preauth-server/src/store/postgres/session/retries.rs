//! Retries writes that met rows which others have locked, apart from all other requests.
//!
//! A write that waits holds neither a lock nor a connection. Its tries use connections of their own and
//! give up at once, so that the number of waiting writes delays nobody else.

use std::sync::Arc;

use crate::fair::Tenant;
use crate::store::error::{Fault, WriteError};

use super::super::connections::Connections;
use super::super::held::{HeldRows, Turns};
use super::super::places::Places;
use super::transaction::Transaction;
use super::{Begin, Run};

/// Maximum number of writes that wait for locks; with more, those that have waited longest are refused.
const MAX_WAITING: usize = 512;
/// The maximum per tenant, which leaves room for others.
const MAX_WAITING_PER_TENANT: usize = 256;

/// The writes that wait for locks; clones share them.
#[derive(Clone, Debug)]
pub(in super::super) struct LockedWrites {
    connections: Connections,
    places: Arc<Places>,
    held: Arc<HeldRows>,
}

impl LockedWrites {
    /// Retries on `connections`, whose sessions wait only briefly for a lock.
    pub(in super::super) fn new(connections: Connections) -> Self {
        Self {
            connections,
            places: Places::new(MAX_WAITING, MAX_WAITING_PER_TENANT),
            held: Arc::default(),
        }
    }

    /// How the first try of a write begins, on a connection that it shares with other requests. While others
    /// wait for locks it gives up sooner: it may need the same row.
    pub(super) fn first_try(&self, begin: Begin) -> &'static str {
        if self.held.are_left_out() {
            begin.nowait
        } else {
            begin.briefly
        }
    }

    /// Retries a write of `tenant` until no row that it needs is locked by others. One whose time is over was
    /// not written, and is not retried.
    pub(super) async fn retry<I, T>(
        &self,
        tenant: Tenant,
        begin: Begin,
        input: &I,
        run: Run<I, T, WriteError>,
    ) -> Result<T, WriteError> {
        self.held.note();
        let mut place = self.places.enter(tenant);
        let transaction = Transaction::new(self.connections.clone(), begin.apart);
        let mut turns = Turns::begin();
        while place.hold(turns.next()).await? {
            match transaction.write(input, run).await {
                Err(WriteError::Locked(_)) => self.held.note(),
                outcome => return outcome,
            }
        }
        Err(WriteError::Busy(Box::new(Fault::StillLocked)))
    }

    pub(in super::super) async fn close(&self) {
        self.connections.close().await;
    }
}
