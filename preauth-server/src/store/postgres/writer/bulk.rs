//! Writes thousands of commits of one caller, apart from those of others.

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use preauth_core::port::Commit;

use super::{Turn, Writer};
use crate::store::grouping::{Limits, Serve};

/// Each request is a group already.
pub(in super::super) const LIMITS: Limits = Limits {
    queue: 16,
    group: 1,
    groups: 1,
};
/// Commits per transaction: few enough that the rows it changes are locked only briefly.
const BATCH_SIZE: usize = 500;
/// Concurrent transactions: one of them computes while the other waits for the disk.
const MAX_CONCURRENT_TRANSACTIONS: usize = 2;

/// Writes many commits on connections of its own, so that others are not delayed.
#[derive(Debug)]
pub(in super::super) struct BulkWriter(pub(in super::super) Writer);

#[async_trait]
impl Serve for BulkWriter {
    type Request = Vec<Commit>;
    type Answer = Vec<Turn>;

    async fn serve(&self, requests: Vec<Self::Request>) -> Vec<Self::Answer> {
        let mut answers = Vec::with_capacity(requests.len());
        for commits in requests {
            answers.push(self.write(commits).await);
        }
        answers
    }
}

impl BulkWriter {
    async fn write(&self, mut commits: Vec<Commit>) -> Vec<Turn> {
        let mut transactions = Vec::new();
        while !commits.is_empty() {
            let rest = commits.split_off(commits.len().min(BATCH_SIZE));
            transactions.push(std::mem::replace(&mut commits, rest));
        }
        let written = stream::iter(transactions).map(|commits| self.0.write_all(commits));
        let written: Vec<_> = written
            .buffered(MAX_CONCURRENT_TRANSACTIONS)
            .collect()
            .await;
        written.into_iter().flatten().collect()
    }
}
