//! The records of the platform: companies, credit analyses, block lists and endpoints.

use crate::operation::{Credit, KnownSupplier, Operation, Party};
use crate::port::NewSupplier;
use crate::value::{Cnpj, CnpjRoot, CompanyId, CompanyName, Email};

use super::MemoryStore;
use super::records::Company;
use super::tables::Tables;

impl MemoryStore {
    /// Registers a company, or replaces the one with the same id, which may be an invited supplier.
    pub fn add_company(&self, company: Company) {
        self.lock().register(company);
    }

    /// Corrects the name of a registered company.
    pub fn rename_company(&self, id: CompanyId, name: CompanyName) {
        if let Some(company) = self.lock().companies.get_mut(&id) {
            company.name = name;
        }
    }

    /// Records the credit analysis of a head office, in place of an earlier one.
    pub fn set_credit(&self, head_office: CompanyId, credit: Credit) {
        self.lock().credits.insert(head_office, credit);
    }

    /// Blocks a supplier's whole legal entity, registered or not, for a head office.
    pub fn block_supplier(&self, head_office: CompanyId, supplier: Cnpj) {
        self.lock().blocked.insert((head_office, supplier));
    }

    /// Removes every entry of a supplier's legal entity from the block list of a head office.
    pub fn unblock_supplier(&self, head_office: CompanyId, supplier: Cnpj) {
        let is_another = |(owner, blocked): &(CompanyId, Cnpj)| {
            *owner != head_office || blocked.root() != supplier.root()
        };
        self.lock().blocked.retain(is_another);
    }

    /// Registers this address for mails about the endpoint of a company.
    pub fn add_reader(&self, head_office: CompanyId, email: Email) {
        let mut tables = self.lock();
        tables.readers.entry(head_office).or_default().push(email);
    }

    /// The registered company with this tax id.
    #[must_use]
    pub fn company_with(&self, cnpj: Cnpj) -> Option<Company> {
        let tables = self.lock();
        let id = tables.by_cnpj.get(&cnpj)?;
        tables.companies.get(id).cloned()
    }
}

impl Tables {
    pub(super) fn register(&mut self, company: Company) {
        self.by_cnpj.insert(company.cnpj, company.id);
        self.invited.remove(&company.id);
        self.companies.insert(company.id, company);
    }

    pub(super) fn invite(&mut self, supplier: NewSupplier, head_office: CompanyId) {
        if supplier.is_first {
            self.by_cnpj.insert(supplier.cnpj, supplier.id);
            self.invited.insert(supplier.id, supplier.cnpj);
        }
        self.invitations
            .insert((supplier.id, head_office), supplier.name);
    }

    /// The data of a supplier that a payer's head office sees.
    pub(super) fn known_supplier(&self, cnpj: Cnpj, head_office: CompanyId) -> KnownSupplier {
        let Some(id) = self.by_cnpj.get(&cnpj) else {
            return KnownSupplier::Unknown;
        };
        if let Some(party) = self.party(*id) {
            return KnownSupplier::Registered(party);
        }
        match self.invitations.get(&(*id, head_office)) {
            None => KnownSupplier::InvitedByOthers(*id),
            Some(name) => KnownSupplier::Invited(Party {
                company: *id,
                head_office: *id,
                cnpj,
                name: name.clone(),
            }),
        }
    }

    /// The operation with the current names of its parties, as its payer's head office sees them.
    pub(super) fn present(&self, operation: &Operation) -> Operation {
        let mut shown = operation.clone();
        for party in [&mut shown.payer, &mut shown.supplier] {
            self.refresh(party);
        }
        shown
    }

    /// Replaces the name of a registered party by its registered name. An invited supplier keeps the
    /// name that its head office gave it.
    pub(super) fn refresh(&self, party: &mut Party) {
        if let Some(registered) = self.party(party.company) {
            *party = registered;
        }
    }

    pub(super) fn party(&self, id: CompanyId) -> Option<Party> {
        let company = self.companies.get(&id)?;
        Some(Party {
            company: company.id,
            head_office: company.head_office.unwrap_or(company.id),
            cnpj: company.cnpj,
            name: company.name.clone(),
        })
    }

    /// Whether a company of the group is of the legal entity.
    pub(super) fn has_entity(&self, head_office: CompanyId, entity: CnpjRoot) -> bool {
        self.companies.values().any(|company| {
            company.head_office.unwrap_or(company.id) == head_office
                && company.cnpj.root() == entity
        })
    }

    /// Whether the head office blocks the legal entity.
    pub(super) fn blocks(&self, head_office: CompanyId, entity: CnpjRoot) -> bool {
        let mut blocked = self.blocked.iter();
        blocked.any(|(owner, blocked)| *owner == head_office && blocked.root() == entity)
    }

    /// The registered company with a tax id.
    pub(super) fn party_with(&self, cnpj: Cnpj) -> Option<Party> {
        self.by_cnpj.get(&cnpj).and_then(|id| self.party(*id))
    }
}
