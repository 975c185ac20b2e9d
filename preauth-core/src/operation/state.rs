//! The state of an operation at one moment.

use crate::value::{
    Cnpj, CompanyId, CompanyName, DueDate, ExternalReference, Money, OperationId, Origin, Reason,
    Stage, Status, Timestamp, Version,
};

use super::{Action, Extension, Invoice};

/// A pre-authorization or an advance: the record behind the resource of the integration API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The `id` of the resource and the `anticipationId` of webhooks.
    pub id: OperationId,
    /// Increases by one with every event; a commit names the version it was decided on.
    pub version: Version,
    /// Whether it began with an offer or with a direct advance of the supplier.
    pub origin: Origin,
    /// The company of the invoice.
    pub payer: Payer,
    /// Who receives the advance.
    pub supplier: Party,
    /// The invoice to advance.
    pub invoice: Invoice,
    /// The ERP's own reference, returned as it was sent.
    pub external_reference: Option<ExternalReference>,
    /// Until when the supplier may request the advance; `None` for direct advances.
    pub expires_at: Option<Timestamp>,
    /// When the operation was created.
    pub created_at: Timestamp,
    /// Net amount to the supplier, from the release on.
    pub net_amount: Option<Money>,
    /// Its state.
    pub state: State,
}

/// A company as an operation shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// The platform's id of the company.
    pub company: CompanyId,
    /// Its head office (itself if it is one), whose endpoint receives its events.
    pub head_office: CompanyId,
    /// Its tax id.
    pub cnpj: Cnpj,
    /// Its legal name on the platform.
    pub name: CompanyName,
}

/// The construction company that pays the invoice, head office or branch.
pub type Payer = Party;

/// The nine statuses of the contract, each with the data that belongs to it alone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum State {
    /// Offered; the supplier has not answered.
    InPreAuth,
    /// A direct advance whose invoice is being verified.
    InVerification,
    /// Requested; the company has not approved.
    ToApprove,
    /// Approved; the platform analyses.
    InAnalysis,
    /// Released for payment.
    ToPay,
    /// Paid to the supplier; the boleto is not issued.
    ToBill,
    /// Boleto issued.
    ToReceive {
        /// When the boleto falls due: the invoice's due date until an extension is concluded.
        boleto_due_date: DueDate,
        /// The open extension, if there is one.
        extension: Option<Extension>,
    },
    /// Boleto paid: final.
    Concluded,
    /// Closed before its conclusion.
    Reproved(Closing),
}

/// How and why an operation was closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    /// The action that closed it: one of those that lead to REPROVED.
    pub action: Action,
    /// The reason that the actor gave, if any.
    pub given_reason: Option<Reason>,
}

impl State {
    /// The status in API responses, filters and webhooks.
    #[must_use]
    pub const fn status(&self) -> Status {
        match self {
            Self::InPreAuth => Status::InPreAuth,
            Self::InVerification => Status::InVerification,
            Self::ToApprove => Status::ToApprove,
            Self::InAnalysis => Status::InAnalysis,
            Self::ToPay => Status::ToPay,
            Self::ToBill => Status::ToBill,
            Self::ToReceive { .. } => Status::ToReceive,
            Self::Concluded => Status::Concluded,
            Self::Reproved(_) => Status::Reproved,
        }
    }
}

impl Closing {
    /// The `reason` of webhooks: the reason that the actor gave, or else the default text of the action.
    #[must_use]
    pub fn reason(&self) -> &str {
        match &self.given_reason {
            Some(given) => given.as_str(),
            None => self.action.transition().default_reason.unwrap_or_default(),
        }
    }

    /// Whether the company or the platform reproved the request.
    #[must_use]
    pub const fn is_reproval(&self) -> bool {
        matches!(
            self.action,
            Action::ReproveByCompany | Action::ReproveByPlatform
        )
    }

    /// The `stage` of webhooks: at which stage the operation was closed.
    #[must_use]
    pub fn stage(&self) -> Option<Stage> {
        self.action.transition().stage
    }
}

impl Operation {
    /// The status in API responses, filters and webhooks.
    #[must_use]
    pub const fn status(&self) -> Status {
        self.state.status()
    }

    /// Whether this is an offer whose time has passed without its expiry being recorded yet.
    #[must_use]
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        matches!(self.state, State::InPreAuth) && self.expires_at.is_some_and(|end| now > end)
    }

    /// How it was closed, if it was.
    #[must_use]
    pub const fn closing(&self) -> Option<&Closing> {
        match &self.state {
            State::Reproved(closing) => Some(closing),
            State::InPreAuth
            | State::InVerification
            | State::ToApprove
            | State::InAnalysis
            | State::ToPay
            | State::ToBill
            | State::ToReceive { .. }
            | State::Concluded => None,
        }
    }
}
