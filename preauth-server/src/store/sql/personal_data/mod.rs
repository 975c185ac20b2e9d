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

pub(in crate::store) use files::forget_old as forget_old_files;

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
        let input = (company.clone(), operator.clone(), at);
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
