//! `operator`: who may call the platform API.

use clap::Subcommand;
use preauth_core::access::OperatorRole;
use preauth_core::value::{OperatorName, Timestamp};

use crate::admin::Failure;
use crate::admin::arguments::{among, moment};
use crate::admin::call::Call;
use crate::admin::once::Once;
use crate::admin::operator_ref::OperatorRef;
use crate::admin::output::{Field, Section, Shown as _, View};
use crate::admin::paging::Paging;
use crate::admin::session::Session;
use crate::http::platform::calling_operator::CallingOperatorShape;
use crate::http::platform::operators::{NewOperatorShape, OperatorRequest, OperatorShape};
use crate::labels;
use crate::language::{Text, texts};
use crate::printable::printable;

use super::Run;

/// Commands on operators.
#[derive(Debug, Subcommand)]
pub(crate) enum OperatorCommand {
    /// Add an operator, whose token is shown this once.
    #[command(
        after_help = "Example:\n  preauth-server operator add 'Ana Souza' --role operator \
                            --valid-until 2027-06-30T00:00:00Z"
    )]
    Add {
        /// Name that histories and the log show; never given to another one.
        #[arg(value_parser = OperatorName::parse)]
        name: OperatorName,
        /// The role: a viewer reads, an operator acts on operations and deliveries, an
        /// admin also on companies, keys and operators.
        #[arg(long, value_parser = among(OperatorRole::ALL), ignore_case = true)]
        role: OperatorRole,
        /// From when on the token is refused, in UTC; without an end by default.
        #[arg(long, value_name = "MOMENT", value_parser = moment)]
        valid_until: Option<Timestamp>,
        #[command(flatten)]
        once: Once,
    },
    /// List the operators, the newest first.
    #[command(after_help = "Example:\n  preauth-server operator list")]
    List {
        #[command(flatten)]
        paging: Paging,
    },
    /// Show an operator, without the token.
    #[command(after_help = "Example:\n  preauth-server operator show 'Ana Souza'")]
    Show {
        /// Id or name of the operator.
        #[arg(value_parser = OperatorRef::parse)]
        operator: OperatorRef,
    },
    /// Show whose token these commands use.
    #[command(after_help = "Example:\n  preauth-server operator whoami")]
    Whoami,
    /// Refuse an operator's token from now on, for good. Asks for confirmation.
    #[command(after_help = "Example:\n  preauth-server operator revoke 'Ana Souza' --yes")]
    Revoke {
        /// Id or name of the operator.
        #[arg(value_parser = OperatorRef::parse)]
        operator: OperatorRef,
    },
}

const OPERATOR: View<NewOperatorShape> = View {
    fields: &[
        Field::new(labels::ID, |it| it.shown.id.cell()),
        Field::new(labels::NAME, |it| it.shown.name.cell()),
        Field::new(labels::ROLE, |it| it.shown.role.cell()),
        Field::new(labels::STATE, |it| it.shown.state.cell()),
        Field::new(labels::CREATED, |it| it.shown.created_at.cell()),
        Field::new(labels::ADDED_BY, |it| it.shown.created_by.cell()),
        Field::new(labels::VALID_UNTIL, |it| it.shown.valid_until.cell()),
        Field::new(labels::REVOKED, |it| it.shown.revoked_at.cell()),
        Field::new(labels::LAST_USED, |it| it.shown.last_used_at.cell()),
    ],
    sections: &[Section::Secret {
        warning: Text::new(
            "The token is shown this once; keep it now, nothing can show it again:",
            "O token aparece só desta vez; guarde-o agora, não há como exibi-lo de novo:",
        ),
        secret: |it| it.token.as_ref(),
    }],
};

const COLUMNS: &[Field<OperatorShape>] = &[
    Field::new(labels::ID, |it| it.id.cell()),
    Field::new(labels::NAME, |it| it.name.cell()),
    Field::new(labels::ROLE, |it| it.role.cell()),
    Field::new(labels::STATE, |it| it.state.cell()),
    Field::new(labels::VALID_UNTIL, |it| it.valid_until.cell()),
    Field::new(labels::LAST_USED, |it| it.last_used_at.cell()),
];

const CALLING: View<CallingOperatorShape> = View::of(&[
    Field::new(labels::ID, |it| it.id.cell()),
    Field::new(labels::NAME, |it| it.name.cell()),
    Field::new(labels::ROLE, |it| it.role.cell()),
    Field::new(labels::VALID_UNTIL, |it| it.valid_until.cell()),
]);

const WITHOUT_TOKEN: Text = Text::new(
    "this operator was added before, and the token was in the first answer only; if that was lost, \
     revoke it and add another under another name",
    "este operador já tinha sido incluído, e o token veio só na primeira resposta; se ele se perdeu, \
     revogue-o e inclua outro com outro nome",
);

texts! {
    revoke(name: &str, role: &str) {
        en: "Revoke the token of {name:?} ({role})? It is refused from then on.",
        pt: "Revogar o token de {name:?} ({role})? A partir daí ele é recusado.",
    }
}

/// The next step when the answer with a token was lost.
fn without_token(added: &NewOperatorShape) -> Option<Text> {
    added.token.is_none().then_some(WITHOUT_TOKEN)
}

impl Run for OperatorCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Add {
                name,
                role,
                valid_until,
                once,
            } => {
                let body = OperatorRequest {
                    name,
                    role: role.into(),
                    valid_until,
                };
                let call = once.post("operators").body(body);
                session.show_with_note(call, &OPERATOR, without_token).await
            }
            Self::List { paging } => session.list(Call::get("operators"), &paging, COLUMNS).await,
            Self::Show { operator } => {
                let id = session.operator(&operator).await?;
                session
                    .show(Call::get(format!("operators/{id}")), &OPERATOR)
                    .await
            }
            Self::Whoami => session.show(Call::get("calling-operator"), &CALLING).await,
            Self::Revoke { operator } => {
                let id = session.operator(&operator).await?;
                let path = format!("operators/{id}");
                let question = |language, operator: &OperatorShape| {
                    let role = printable(operator.role.as_str());
                    revoke(language, &printable(operator.name.as_str()), &role)
                };
                session.confirm(Call::get(&*path), question).await?;
                session
                    .show(Call::post(format!("{path}/revoke")), &OPERATOR)
                    .await
            }
        }
    }
}
