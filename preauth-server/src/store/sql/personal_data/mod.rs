//! Personal data of a company: what there is, and its erasure.

mod erase;
mod files;
mod found;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{OperatorName, Timestamp};

use crate::directory::{
    Company, DirectoryError, Erasure, PersonalData, PersonalDataRecords, PersonalRecords,
};

use super::Database;
use found::Side;

pub(in crate::store) use files::forget_old as forget_old_files;

/// Operations that one read looks at.
const PAGE: u32 = 2_000;

#[async_trait]
impl<D: Database> PersonalDataRecords for D {
    async fn personal_data(&self, company: &Company) -> Result<PersonalData, Unavailable> {
        let found = self.read_snapshot(company, |session, company| {
            Box::pin(found::counts(session, company))
        });
        Ok(found.await?)
    }

    async fn personal_records(&self, company: &Company) -> Result<PersonalRecords, Unavailable> {
        let found = self.read_snapshot(company, |session, company| {
            Box::pin(found::records(session, company))
        });
        Ok(found.await?)
    }

    async fn begin_erasure(
        &self,
        company: &Company,
        operator: &OperatorName,
        at: Timestamp,
    ) -> Result<Erasure, DirectoryError> {
        let is_left = is_anything_left(self, company).await?;
        let input = (company.clone(), operator.clone(), at, is_left);
        let begun = self.write(input, |session, input| {
            Box::pin(erase::begin(session, input))
        });
        Ok(begun.await?)
    }

    async fn continue_erasure(
        &self,
        company: &Company,
        began_at: Timestamp,
        at: Timestamp,
    ) -> Result<Erasure, DirectoryError> {
        let input = (company.clone(), began_at, at);
        let step = self.write(input, |session, input| {
            Box::pin(erase::step(session, input))
        });
        Ok(step.await?)
    }
}

/// Whether anything is left to erase; `None` while an erasure is incomplete, and a conflict while something is in
/// progress. All operations are looked at, and no write waits for that: it comes before the erasure's own, page by page.
async fn is_anything_left<D: Database>(
    database: &D,
    company: &Company,
) -> Result<Option<bool>, DirectoryError> {
    let erasures = database.read(company, |session, company| {
        Box::pin(found::erasures(session, company.id))
    });
    let erasures = erasures.await.map_err(Unavailable::from)?;
    let last = erasures.first();
    if last.is_some_and(|it| it.completed_at.is_none()) {
        return Ok(None);
    }
    let found = database.personal_data(company).await?;
    if found.open_payment_orders > 0 {
        return Err(DirectoryError::Conflict);
    }
    let mut is_left = [found.contacts, found.users, found.mails, found.files] != [0; 4];
    for side in [Side::Supplier, Side::Payer] {
        let mut next = Some(i64::MAX);
        while let Some(below) = next {
            let input = (company.clone(), side, below);
            let held = database.read_snapshot(&input, |session, (company, side, below)| {
                Box::pin(found::held(session, company, *side, (*below, PAGE)))
            });
            let held = held.await.map_err(Unavailable::from)?;
            if held.in_progress > 0 {
                return Err(DirectoryError::Conflict);
            }
            is_left |= held.mails > 0 || held.files > 0;
            next = held.below;
        }
    }
    Ok(Some(is_left))
}
