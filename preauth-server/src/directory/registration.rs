//! The registration of a company, over the port of companies.

use preauth_core::access::{
    BranchRejection, Registration, RegistrationRejection, decide_branch, decide_registration,
};
use preauth_core::port::{NewReply, Unavailable};
use thiserror::Error;

use crate::audit_trail;

use super::{Companies, Company, DirectoryError};

/// Attempts to register a company while an offer creates the same tax id; that can happen once.
const ROUNDS: usize = 3;

/// Why a company was not registered.
#[derive(Debug, Error)]
pub enum RegistrationError {
    /// The head office that it names does not exist.
    #[error("the head office does not exist")]
    HeadOfficeUnknown,
    /// It cannot be a branch of that head office.
    #[error(transparent)]
    Branch(#[from] BranchRejection),
    /// Its tax id is taken.
    #[error(transparent)]
    Taken(#[from] RegistrationRejection),
    /// The directory failed.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
}

impl From<Unavailable> for RegistrationError {
    fn from(error: Unavailable) -> Self {
        Self::Directory(error.into())
    }
}

/// Registers `new`, or takes over the invited supplier with its tax id: the company then has that
/// supplier's id and suspension. Stores the answer that `reply` makes with it, if there is one, and
/// returns the company as it was registered.
pub async fn register(
    companies: &dyn Companies,
    new: Company,
    reply: &(dyn Fn(&Company) -> Option<NewReply> + Sync),
) -> Result<Company, RegistrationError> {
    if let Some(head_office) = new.head_office {
        let found = companies.company(head_office).await?;
        let head_office = found.ok_or(RegistrationError::HeadOfficeUnknown)?;
        decide_branch(new.kind, &head_office.known())?;
    }
    for _ in 0..ROUNDS {
        let found = companies.company_by_cnpj(&new.cnpj).await?;
        let known = found.as_ref().map(Company::known);
        let mut company = new.clone();
        match decide_registration(known.as_ref())? {
            Registration::New => {}
            Registration::TakeOver(id) => {
                company.id = id;
                company.suspension = found.and_then(|supplier| supplier.suspension);
            }
        }
        let reply = reply(&company);
        audit_trail::creating("companies", company.id);
        match companies.add_company(&company, reply.as_ref()).await {
            Ok(()) => return Ok(company),
            // An offer may have created the tax id since the look-up.
            Err(DirectoryError::Conflict) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(RegistrationRejection::CnpjRegistered.into())
}
