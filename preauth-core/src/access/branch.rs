//! Branches and their head offices.

use thiserror::Error;

use crate::value::{CompanyId, CompanyKind};

/// The company that a branch names as its head office, as far as the registration checks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadOffice {
    /// Its role.
    pub kind: CompanyKind,
    /// Its own head office; `None` when it is itself a head office.
    pub head_office: Option<CompanyId>,
}

/// Why a company cannot be registered as a branch.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum BranchRejection {
    /// The named head office is itself a branch.
    #[error("the head office is a branch of {head_office}")]
    HeadOfficeIsBranch {
        /// The head office of that branch.
        head_office: CompanyId,
    },
    /// The two differ in kind.
    #[error("the head office is of the kind {kind}")]
    KindDiffers {
        /// The head office's kind.
        kind: CompanyKind,
    },
}

crate::explained::explained!(BranchRejection);

/// Decides whether a company of this kind may be registered as a branch of `head_office`.
pub fn decide_branch(kind: CompanyKind, head_office: HeadOffice) -> Result<(), BranchRejection> {
    if let Some(above) = head_office.head_office {
        return Err(BranchRejection::HeadOfficeIsBranch { head_office: above });
    }
    if head_office.kind != kind {
        return Err(BranchRejection::KindDiffers {
            kind: head_office.kind,
        });
    }
    Ok(())
}
