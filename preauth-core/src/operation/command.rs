//! Commands on an existing operation.

use crate::value::{DueDate, ExtensionId, Money, Reason};

use super::{Action, Actor, By};

/// A request to change an existing operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum Command {
    /// The supplier asks for the advance.
    Request,
    /// The supplier declines.
    Decline {
        /// Why, if the supplier gives a reason.
        reason: Option<Reason>,
    },
    /// The ERP cancels.
    Cancel,
    /// The company withdraws the offer in the platform.
    Withdraw {
        /// Why, if the company gives a reason.
        reason: Option<Reason>,
    },
    /// The offer's time has passed.
    Expire,
    /// The invoice of a direct advance was verified.
    Verify,
    /// The company approves.
    Approve,
    /// The analysis released the payment.
    Release {
        /// Above zero and at most the amount less the withheld tax.
        net_amount: Money,
    },
    /// The supplier was paid.
    Pay,
    /// The bank returned the payment.
    ReturnPayout,
    /// The boleto was issued.
    Bill,
    /// The boleto was paid.
    Conclude,
    /// The request is reproved.
    Reprove {
        /// Who reproves.
        by: ReprovedBy,
        /// The reason, if one is given.
        reason: Option<Reason>,
    },
    /// The reproved request is reopened in the status in which it was refused.
    Reopen,
    /// An extension of the boleto is requested.
    CreateExtension {
        /// The id of the new extension.
        id: ExtensionId,
        /// After the boleto's due date, at most 180 days ahead.
        new_due_date: DueDate,
        /// Above zero.
        total_amount: Money,
    },
    /// The open extension was paid.
    ConcludeExtension {
        /// Which extension.
        id: ExtensionId,
    },
    /// The open extension is cancelled.
    CancelExtension {
        /// Which extension.
        id: ExtensionId,
    },
}

/// Who reproves a request; determines the permitted statuses and the webhook's stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum ReprovedBy {
    /// The construction company.
    Company,
    /// The platform operator.
    Platform,
}

impl Command {
    /// The actor of this command when it is given in the platform, where no key is presented: an
    /// ERP's command comes from its company there.
    #[must_use]
    pub const fn platform_actor(&self) -> Actor {
        match self.action().transition().by {
            By::Company | By::Erp => Actor::Company,
            By::Supplier => Actor::Supplier,
            By::Platform => Actor::Platform,
            By::System => Actor::System,
        }
    }

    /// The action that this command asks for.
    #[must_use]
    pub const fn action(&self) -> Action {
        match self {
            Self::Request => Action::Request,
            Self::Decline { .. } => Action::Decline,
            Self::Cancel => Action::Cancel,
            Self::Withdraw { .. } => Action::Withdraw,
            Self::Expire => Action::Expire,
            Self::Verify => Action::Verify,
            Self::Approve => Action::Approve,
            Self::Release { .. } => Action::Release,
            Self::Pay => Action::Pay,
            Self::ReturnPayout => Action::ReturnPayout,
            Self::Bill => Action::Bill,
            Self::Conclude => Action::Conclude,
            Self::Reprove {
                by: ReprovedBy::Company,
                ..
            } => Action::ReproveByCompany,
            Self::Reprove {
                by: ReprovedBy::Platform,
                ..
            } => Action::ReproveByPlatform,
            Self::Reopen => Action::Reopen,
            Self::CreateExtension { .. } => Action::CreateExtension,
            Self::ConcludeExtension { .. } => Action::ConcludeExtension,
            Self::CancelExtension { .. } => Action::CancelExtension,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Actor, Command, ReprovedBy};

    #[test]
    fn the_actor_is_that_of_the_transition_table_and_never_a_key() {
        let reprove = |by| Command::Reprove { by, reason: None };
        for (command, actor) in [
            (Command::Request, Actor::Supplier),
            (Command::Cancel, Actor::Company),
            (Command::Withdraw { reason: None }, Actor::Company),
            (Command::Pay, Actor::Platform),
            (reprove(ReprovedBy::Company), Actor::Company),
            (reprove(ReprovedBy::Platform), Actor::Platform),
            (Command::Expire, Actor::System),
        ] {
            assert_eq!(command.platform_actor(), actor, "{command:?}");
        }
    }
}
