//! All stored records, for the check; without a planted defect, unchanged.

use std::collections::BTreeMap;

use async_trait::async_trait;
use preauth_core::operation::Operation;
use preauth_core::port::{Archive, Page, Pages, Record, Unavailable};
use preauth_core::value::OperationId;

use crate::defect::Defect;

use super::Database;
use super::defective::undisguised;

/// Records per page.
const PAGE: u32 = 100;

#[async_trait]
impl Archive for Database {
    async fn pages(&self) -> Result<Box<dyn Pages>, Unavailable> {
        let pages = self.ground().archive.pages().await?;
        if self.has(Defect::DuplicateUnconstrained) {
            return Ok(Box::new(Undisguised(pages)));
        }
        if self.has(Defect::PageOfTwoMoments) {
            let before = operations(self.ground().archive.pages().await?).await?;
            return Ok(Box::new(OfTwoMoments { pages, before }));
        }
        Ok(pages)
    }
}

/// Shows operations in an old state with their present events.
struct OfTwoMoments {
    pages: Box<dyn Pages>,
    before: BTreeMap<OperationId, Operation>,
}

#[async_trait]
impl Pages for OfTwoMoments {
    async fn next(&mut self, limit: u32) -> Result<Page, Unavailable> {
        let mut page = self.pages.next(limit).await?;
        for read in &mut page.records {
            if let Ok(Record::Operation(stored)) = read
                && let Some(before) = self.before.get(&stored.operation.id)
            {
                stored.operation = before.clone();
            }
        }
        Ok(page)
    }
}

/// All operations in their present state.
async fn operations(
    mut pages: Box<dyn Pages>,
) -> Result<BTreeMap<OperationId, Operation>, Unavailable> {
    let mut operations = BTreeMap::new();
    loop {
        let page = pages.next(PAGE).await?;
        if page.records.is_empty() {
            return Ok(operations);
        }
        operations.extend(page.records.into_iter().filter_map(|read| match read {
            Ok(Record::Operation(stored)) => Some((stored.operation.id, stored.operation)),
            _ => None,
        }));
    }
}

/// Shows invoice numbers without their disguise.
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
