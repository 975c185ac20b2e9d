//! The steps of an operation's life, each an action of the platform API.

use clap::{Args, Subcommand};
use preauth_core::operation;
use preauth_core::value::{Money, OperationId, Reason};
use preauth_core::wire::Open;
use serde_json::Value;

use crate::admin::arguments::among;
use crate::admin::call::{Call, sent};
use crate::admin::failure::{Failure, Refusal};
use crate::admin::if_version::IfVersion;
use crate::admin::output::Shown as _;
use crate::admin::session::Session;
use crate::http::platform::operations::{
    OperationDetails, OperationShape, Release, Reproval, Reprover,
};
use crate::http::platform::reason::NewReason;
use crate::language::{Language, Text, texts};
use crate::printable::{printable, reais};
use crate::typed_amount;

use super::OPERATION;

/// The actions on an operation. Those that close it ask for confirmation.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// The supplier asks for the advance that was offered.
    #[command(after_help = "Example:\n  preauth-server operation request 12")]
    Request(Plain),
    /// The supplier declines the offer. Asks for confirmation.
    #[command(
        after_help = "Example:\n  preauth-server operation decline 12 --reason 'Sem interesse'"
    )]
    Decline(Reasoned),
    /// The company takes the offer back. Asks for confirmation.
    #[command(after_help = "Example:\n  preauth-server operation withdraw 12 --yes")]
    Withdraw(Reasoned),
    /// The platform verified the invoice of a direct advance.
    #[command(after_help = "Example:\n  preauth-server operation verify 12")]
    Verify(Plain),
    /// The company approves the advance.
    #[command(after_help = "Example:\n  preauth-server operation approve 12")]
    Approve(Plain),
    /// The platform releases the advance for payment.
    #[command(after_help = "Example:\n  preauth-server operation release 12 --net-amount 11900.00")]
    Release {
        #[command(flatten)]
        on: Plain,
        /// The amount that the supplier gets, in reais.
        #[arg(long, value_name = "REAIS", value_parser = typed_amount::parse)]
        net_amount: Money,
    },
    /// The supplier was paid.
    #[command(after_help = "Example:\n  preauth-server operation pay 12")]
    Pay(Plain),
    /// The bank returned the payment to the supplier.
    #[command(after_help = "Example:\n  preauth-server operation return-payout 12")]
    ReturnPayout(Plain),
    /// The boleto was issued.
    #[command(after_help = "Example:\n  preauth-server operation bill 12")]
    Bill(Plain),
    /// The company paid the boleto.
    #[command(after_help = "Example:\n  preauth-server operation conclude 12")]
    Conclude(Plain),
    /// The company or the platform refuses the advance. Asks for confirmation.
    #[command(
        after_help = "Example:\n  preauth-server operation reprove 12 --by company \
                            --reason 'Nota fiscal cancelada'"
    )]
    Reprove {
        #[command(flatten)]
        on: Reasoned,
        /// Who refuses it.
        #[arg(long, value_parser = among(Reprover::ALL), ignore_case = true)]
        by: Reprover,
    },
    /// The platform takes up again what was reproved.
    #[command(after_help = "Example:\n  preauth-server operation reopen 12")]
    Reopen(Plain),
}

/// On which operation.
#[derive(Debug, Args)]
pub(crate) struct Plain {
    /// Id of the operation.
    #[arg(value_parser = OperationId::parse)]
    operation: OperationId,
    #[command(flatten)]
    seen: IfVersion,
}

/// On which operation, and why.
#[derive(Debug, Args)]
pub(crate) struct Reasoned {
    /// Id of the operation.
    #[arg(value_parser = OperationId::parse)]
    operation: OperationId,
    /// The reason that the other side reads; by default a sentence of the platform.
    #[arg(long, value_name = "TEXT", value_parser = Reason::parse)]
    reason: Option<Reason>,
    #[command(flatten)]
    seen: IfVersion,
}

/// The verbs of the question.
const DECLINE: Text = Text::new("Decline", "Recusar");
const WITHDRAW: Text = Text::new("Withdraw", "Retirar");
const REPROVE: Text = Text::new("Reprove", "Reprovar");

texts! {
    possible(operation: OperationId, status: &str, commands: &str) {
        en: "operation {operation} is {status}; possible now: {commands}",
        pt: "a operação {operation} está em {status}; possível agora: {commands}",
    }
    closed(operation: OperationId, status: &str) {
        en: "operation {operation} is {status}, where no command changes it",
        pt: "a operação {operation} está em {status}, e nenhum comando a altera",
    }
    asked(
        verb: &str,
        operation: OperationId,
        invoice: &str,
        supplier: &str,
        amount: &str,
        status: &str,
    ) {
        en: "{verb} operation {operation} (invoice {invoice} of {supplier}, {amount} reais, {status})?",
        pt: "{verb} a operação {operation} (nota {invoice} de {supplier}, {amount} reais, {status})?",
    }
}

/// An action as a request to the API.
struct Step {
    operation: OperationId,
    seen: IfVersion,
    /// The last segment of its path.
    segment: &'static str,
    body: Option<Value>,
    /// The question before it, if it closes the operation.
    question: Option<Text>,
}

impl Action {
    pub(super) async fn run(self, session: &Session) -> Result<(), Failure> {
        let step = self.step();
        let path = format!("operations/{}", step.operation);
        let mut shown = None;
        if let Some(verb) = step.question {
            let question = |language, operation: &_| question(language, verb, operation);
            shown = session.confirm(Call::get(&*path), question).await?;
        }
        let seen = step.seen.or(shown.map(|it: OperationShape| it.version));
        let mut call = seen.bind(Call::post(format!("{path}/{}", step.segment)));
        call.body = step.body;
        match session.show(call, &OPERATION).await {
            Err(refused @ Failure::Refused(_)) => Err(explained(refused, path, session).await),
            outcome => outcome,
        }
    }

    /// The table of actions.
    fn step(self) -> Step {
        match self {
            Self::Request(on) => on.step("request"),
            Self::Decline(on) => on.step("decline").asking(DECLINE),
            Self::Withdraw(on) => on.step("withdraw").asking(WITHDRAW),
            Self::Verify(on) => on.step("verify"),
            Self::Approve(on) => on.step("approve"),
            Self::Release { on, net_amount } => Step {
                body: Some(sent(Release { net_amount })),
                ..on.step("release")
            },
            Self::Pay(on) => on.step("pay"),
            Self::ReturnPayout(on) => on.step("return-payout"),
            Self::Bill(on) => on.step("bill"),
            Self::Conclude(on) => on.step("conclude"),
            Self::Reprove { on, by } => {
                let body = Reproval {
                    by: by.into(),
                    reason: on.reason.clone(),
                };
                Step {
                    body: Some(sent(body)),
                    ..on.step("reprove").asking(REPROVE)
                }
            }
            Self::Reopen(on) => on.step("reopen"),
        }
    }
}

/// A refusal because of the operation's status, with that status and the commands that it permits.
async fn explained(refused: Failure, path: String, session: &Session) -> Failure {
    let is_meant = |it: &Refusal| it.code == "ANTICIPATION_INVALID_TRANSITION";
    if !matches!(&refused, Failure::Refused(refusal) if is_meant(refusal)) {
        return refused;
    }
    let Ok(found) = session.ask::<OperationDetails>(Call::get(path)).await else {
        return refused;
    };
    let commands = found.possible_actions.iter().filter_map(command);
    let commands: Vec<_> = commands.map(|it| format!("`{it}`")).collect();
    let (id, status) = (
        found.operation.id,
        printable(found.operation.status.as_str()),
    );
    let language = session.language();
    let next = if commands.is_empty() {
        closed(language, id, &status)
    } else {
        possible(language, id, &status, &commands.join(", "))
    };
    refused.advised(is_meant, &next)
}

/// The command for an action; the ERP and the passing of time have none.
const fn command(action: &Open<operation::Action>) -> Option<&'static str> {
    use operation::Action;
    let Open::Known(action) = action else {
        return None;
    };
    Some(match action {
        Action::Offer | Action::AdvanceDirectly | Action::Cancel | Action::Expire => return None,
        Action::Request => "operation request",
        Action::Decline => "operation decline",
        Action::Withdraw => "operation withdraw",
        Action::Verify => "operation verify",
        Action::Approve => "operation approve",
        Action::Release => "operation release",
        Action::Pay => "operation pay",
        Action::ReturnPayout => "operation return-payout",
        Action::Bill => "operation bill",
        Action::Conclude => "operation conclude",
        Action::ReproveByCompany => "operation reprove --by company",
        Action::ReproveByPlatform => "operation reprove --by platform",
        Action::Reopen => "operation reopen",
        Action::CreateExtension => "extension add",
        Action::ConcludeExtension => "extension conclude",
        Action::CancelExtension => "extension cancel",
    })
}

impl Plain {
    const fn step(&self, segment: &'static str) -> Step {
        Step {
            operation: self.operation,
            seen: self.seen,
            segment,
            body: None,
            question: None,
        }
    }
}

impl Reasoned {
    fn step(&self, segment: &'static str) -> Step {
        Step {
            operation: self.operation,
            seen: self.seen,
            segment,
            body: Some(sent(NewReason {
                reason: self.reason.clone(),
            })),
            question: None,
        }
    }
}

impl Step {
    fn asking(self, verb: Text) -> Self {
        Self {
            question: Some(verb),
            ..self
        }
    }
}

fn question(language: Language, verb: Text, operation: &OperationShape) -> String {
    let OperationShape {
        id,
        status,
        supplier,
        invoice,
        ..
    } = operation;
    asked(
        language,
        verb.of(language),
        *id,
        &invoice.number.text(),
        &printable(supplier.name.as_str()),
        &reais(invoice.amount.money()),
        &printable(status.as_str()),
    )
}

#[cfg(test)]
mod tests {
    use super::{DECLINE, Language, OperationShape, question};

    #[test]
    fn the_question_shows_the_operation_in_the_language() {
        let party = r#"{"companyId": "018f2f3a-0000-7000-8000-000000000001",
            "headOfficeId": "018f2f3a-0000-7000-8000-000000000001",
            "cnpj": "11222333000181", "name": "Aço Ltda."}"#;
        let operation = format!(
            r#"{{"id": 12, "version": 1, "status": "ON_HOLD", "origin": "OFFER", "payer": {party},
            "supplier": {party}, "invoice": {{"amount": 90071992547409.93, "dueDate": "2027-01-20",
            "number": null}}, "createdAt": "2026-11-21T12:00:00.000Z"}}"#
        );
        let operation: OperationShape = serde_json::from_str(&operation).unwrap();
        let asked = |language| question(language, DECLINE, &operation);
        assert_eq!(
            asked(Language::English),
            "Decline operation 12 (invoice - of Aço Ltda., 90071992547409.93 reais, ON_HOLD)?"
        );
        assert_eq!(
            asked(Language::Portuguese),
            "Recusar a operação 12 (nota - de Aço Ltda., 90071992547409.93 reais, ON_HOLD)?"
        );
    }
}
