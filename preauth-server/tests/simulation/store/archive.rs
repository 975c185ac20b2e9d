//! Everything that is stored, for the verdict; without a planted defect, as it is.

use async_trait::async_trait;
use preauth_core::port::{Archive, Page, Pages, Record, Unavailable};

use crate::defect::Defect;

use super::Database;
use super::defective::undisguised;

#[async_trait]
impl Archive for Database {
    async fn pages(&self) -> Result<Box<dyn Pages>, Unavailable> {
        let pages = self.ground().archive.pages().await?;
        if self.has(Defect::DuplicateUnconstrained) {
            Ok(Box::new(Undisguised(pages)))
        } else {
            Ok(pages)
        }
    }
}

/// Shows invoices' numbers as they were meant.
struct Undisguised(Box<dyn Pages>);

#[async_trait]
impl Pages for Undisguised {
    async fn next(&mut self, limit: u32) -> Result<Page, Unavailable> {
        let Page { host_now, records } = self.0.next(limit).await?;
        Ok(Page {
            host_now,
            records: records.into_iter().map(|read| read.map(shown)).collect(),
        })
    }
}

fn shown(record: Record) -> Record {
    match record {
        Record::Operation(mut stored) => {
            stored.operation = undisguised(stored.operation);
            Record::Operation(stored)
        }
        Record::Reply(mut stored) => {
            stored.operation = undisguised(stored.operation);
            Record::Reply(stored)
        }
        record => record,
    }
}
