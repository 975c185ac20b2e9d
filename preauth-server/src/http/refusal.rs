//! Refusals of the platform API in addition to those of the rules of operations.

use preauth_core::ErrorCode;
use preauth_core::access::{
    BranchRejection, IsBranch, NotRegistered, PartiesRejection, RegistrationRejection,
};
use preauth_core::value::{Cnpj, CompanyId, CompanyKind};

use crate::dispatcher::UrlRefusal;

/// A refusal that is more specific than its code; the texts are in `messages`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A new branch names a head office that does not exist.
    HeadOfficeUnknown,
    /// A new branch names a branch as its head office.
    HeadOfficeIsBranch {
        /// The head office of that branch.
        head_office: CompanyId,
    },
    /// A new branch and its head office differ in kind.
    KindDiffers {
        /// The head office's kind.
        kind: CompanyKind,
    },
    /// The company is an invited supplier that is not registered.
    NotRegistered {
        /// Its tax id.
        cnpj: Cnpj,
    },
    /// A company with this tax id is registered.
    CnpjRegistered,
    /// The record belongs to the head office of the company that the path names.
    Branch {
        /// That head office.
        head_office: CompanyId,
    },
    /// The company has a user with this address.
    EmailTaken,
    /// Name and address of the user were erased.
    UserErased,
    /// Personal data of a company stays while an operation is in progress or a payment order open.
    InProgress,
    /// A new record names a payer that does not exist.
    PayerUnknown,
    /// A new record names a payer that is no construction company.
    PayerNotConstruction,
    /// A new record names a supplier that is not registered.
    SupplierUnknown,
    /// A new record names a supplier that belongs to its payer's company.
    SupplierIsSelf,
    /// A payment order names an operation that does not exist.
    OperationUnknown,
    /// A payment order names an operation between other companies.
    OperationOfOthers,
    /// A delivery that is pending, or whose endpoint was removed, cannot be resent.
    DeliveryNotResendable,
    /// A mail that has not failed cannot be resent.
    MailNotResendable,
    /// An endpoint whose signing secret was abandoned with a lost master key cannot be resumed.
    EndpointWithoutSecret,
    /// The URL cannot be an endpoint.
    EndpointUrl(UrlRefusal),
}

impl Refusal {
    /// The code of its answer.
    pub(super) const fn code(&self) -> ErrorCode {
        match self {
            Self::HeadOfficeUnknown
            | Self::PayerUnknown
            | Self::SupplierUnknown
            | Self::OperationUnknown => ErrorCode::ResourceNotFound,
            Self::HeadOfficeIsBranch { .. }
            | Self::KindDiffers { .. }
            | Self::CnpjRegistered
            | Self::Branch { .. }
            | Self::EmailTaken
            | Self::UserErased
            | Self::InProgress
            | Self::PayerNotConstruction
            | Self::OperationOfOthers
            | Self::DeliveryNotResendable
            | Self::MailNotResendable
            | Self::EndpointWithoutSecret => ErrorCode::ResourceConflict,
            Self::NotRegistered { .. } => ErrorCode::SupplierNotRegistered,
            Self::SupplierIsSelf => ErrorCode::PreAuthSupplierSelf,
            Self::EndpointUrl(_) => ErrorCode::EndpointUrlRefused,
        }
    }
}

impl From<BranchRejection> for Refusal {
    fn from(rejection: BranchRejection) -> Self {
        match rejection {
            BranchRejection::HeadOfficeNotRegistered(rejection) => rejection.into(),
            BranchRejection::HeadOfficeIsBranch { head_office } => {
                Self::HeadOfficeIsBranch { head_office }
            }
            BranchRejection::KindDiffers { kind } => Self::KindDiffers { kind },
        }
    }
}

impl From<RegistrationRejection> for Refusal {
    fn from(rejection: RegistrationRejection) -> Self {
        match rejection {
            RegistrationRejection::CnpjRegistered => Self::CnpjRegistered,
        }
    }
}

impl From<NotRegistered> for Refusal {
    fn from(NotRegistered { cnpj }: NotRegistered) -> Self {
        Self::NotRegistered { cnpj }
    }
}

impl From<IsBranch> for Refusal {
    fn from(IsBranch { head_office }: IsBranch) -> Self {
        Self::Branch { head_office }
    }
}

impl From<PartiesRejection> for Refusal {
    fn from(rejection: PartiesRejection) -> Self {
        match rejection {
            PartiesRejection::PayerUnknown => Self::PayerUnknown,
            PartiesRejection::PayerNotConstruction => Self::PayerNotConstruction,
            PartiesRejection::SupplierUnknown => Self::SupplierUnknown,
            PartiesRejection::SupplierNotRegistered(rejection) => rejection.into(),
            PartiesRejection::SupplierIsSelf => Self::SupplierIsSelf,
        }
    }
}
