//! The directory as the creates of one instance reach it: they fail, lose their answer, wait for rows that
//! others hold, or land late.

use async_trait::async_trait;
use preauth_core::operation::Credit;
use preauth_core::port::{NewReply, PageRequest, Unavailable};
use preauth_core::value::{Cnpj, CompanyId, CompanyName, Timestamp};
use preauth_server::directory::{Companies, Company, DirectoryError, Invitation, Page, Suspension};

use crate::defect::Defect;
use crate::faults::{Call, Fault};
use crate::ground::{Ground, NewRecord, Record};
use crate::history::Fact;

use super::late::Work;
use super::{Database, SimStore, lost, unavailable};

impl SimStore {
    /// Writes a record of the directory.
    pub(crate) async fn register(&self, new: NewRecord) -> Result<(), DirectoryError> {
        let connection = self.database.connection();
        let faults = &self.database.faults;
        let fault = faults.meet(self.instance, Call::Register).await;
        let unknown = || DirectoryError::Unknown(lost());
        match fault {
            Some(Fault::Fails) => return Err(unavailable().into()),
            Some(Fault::FailsUnknown) => return Err(unknown()),
            Some(Fault::LandsLate) => {
                self.land_late(Work::Record(Box::new(new)), connection);
                return Err(unknown());
            }
            _ => {}
        }
        let records = &self.database.records;
        self.pass(records).await;
        if fault == Some(Fault::StaysLocked) {
            let stops_all = self.database.has(Defect::HeldRecordStopsAll);
            if !self.waits_until_free(records, stops_all).await {
                return Err(unavailable().into());
            }
        }
        if self.database.is_cut_off(connection) {
            let instance = self.instance;
            self.database.chronicle.note(Fact::CutOff { instance });
            return Err(unknown());
        }
        let store = self.clone();
        let done = super::outliving(async move { store.enter(new).await }).await;
        faults.leave(self.instance, fault).await;
        if fault == Some(Fault::LosesAnswer) {
            return Err(unknown());
        }
        done
    }

    /// Writes a record and notes it in the history.
    pub(super) async fn enter(&self, new: NewRecord) -> Result<(), DirectoryError> {
        let registered = Fact::registered(&new);
        self.database.enter(&self.ground(), new).await?;
        self.database.chronicle.note(registered);
        Ok(())
    }
}

impl Database {
    async fn enter(&self, ground: &Ground, mut new: NewRecord) -> Result<(), DirectoryError> {
        if self.forgets(ground, new.reply.as_ref()).await {
            new.reply = None;
        }
        ground.desk.register(new).await
    }

    /// The defect by which a create is done although its key has an answer by now.
    pub(super) async fn forgets(&self, ground: &Ground, reply: Option<&NewReply>) -> bool {
        match reply {
            Some(reply) if self.has(Defect::RetryForgetsKey) => {
                let stored = ground.platform_reply(&reply.key).await;
                stored.is_ok_and(|stored| stored.is_some())
            }
            _ => false,
        }
    }
}

/// The part that a registration uses.
#[async_trait]
impl Companies for SimStore {
    async fn add_company(
        &self,
        company: &Company,
        reply: Option<&NewReply>,
    ) -> Result<(), DirectoryError> {
        self.register(NewRecord {
            record: Record::Company(company.clone()),
            reply: reply.cloned(),
        })
        .await
    }

    async fn company_by_cnpj(&self, cnpj: &Cnpj) -> Result<Option<Company>, Unavailable> {
        let desk = self.ground().desk;
        self.call(Call::Find, desk.company_by_cnpj(cnpj)).await
    }

    async fn company(&self, _id: CompanyId) -> Result<Option<Company>, Unavailable> {
        unreachable!("only branches are looked up by their head office")
    }

    async fn rename_company(
        &self,
        _id: CompanyId,
        _name: &CompanyName,
    ) -> Result<Company, DirectoryError> {
        unreachable!("nobody renames companies")
    }

    async fn invitations(
        &self,
        _supplier: CompanyId,
        _page: PageRequest,
    ) -> Result<Page<Invitation>, Unavailable> {
        unreachable!("nobody reads invitations")
    }

    async fn branches(
        &self,
        _head_office: CompanyId,
        _page: PageRequest,
    ) -> Result<Page<Company>, Unavailable> {
        unreachable!("nobody lists branches")
    }

    async fn suspend_company(
        &self,
        _id: CompanyId,
        _suspension: &Suspension,
    ) -> Result<Company, DirectoryError> {
        unreachable!("nobody suspends companies")
    }

    async fn resume_company(&self, _id: CompanyId) -> Result<Company, DirectoryError> {
        unreachable!("nobody suspends companies")
    }

    async fn companies(&self, _page: PageRequest) -> Result<Page<Company>, Unavailable> {
        unreachable!("nobody lists companies")
    }

    async fn set_credit(
        &self,
        _company: CompanyId,
        _credit: Credit,
        _at: Timestamp,
    ) -> Result<(), DirectoryError> {
        unreachable!("nobody sets credits")
    }

    async fn credit(&self, _company: CompanyId) -> Result<Option<Credit>, Unavailable> {
        unreachable!("nobody reads credits")
    }

    async fn block_supplier(
        &self,
        _company: CompanyId,
        _supplier: &Cnpj,
        _at: Timestamp,
    ) -> Result<(), DirectoryError> {
        unreachable!("nobody blocks suppliers")
    }

    async fn unblock_supplier(
        &self,
        _company: CompanyId,
        _supplier: &Cnpj,
    ) -> Result<(), DirectoryError> {
        unreachable!("nobody blocks suppliers")
    }

    async fn blocked_suppliers(&self, _company: CompanyId) -> Result<Vec<Cnpj>, Unavailable> {
        unreachable!("nobody blocks suppliers")
    }
}
