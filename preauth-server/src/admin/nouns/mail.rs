//! `mail`: mails to suppliers and companies.

use clap::Subcommand;
use preauth_core::port::MailKind;
use preauth_core::value::{Email, MailId, OperationId, SuppressionId};

use crate::admin::Failure;
use crate::admin::arguments::among;
use crate::admin::call::Call;
use crate::admin::company_ref::CompanyRef;
use crate::admin::output::{Field, Shown as _, View};
use crate::admin::paging::Paging;
use crate::admin::session::Session;
use crate::directory::MailStatus;
use crate::http::platform::mails::MailShape;
use crate::http::platform::suppressed_addresses::SuppressedAddressShape;
use crate::labels;
use crate::language::{Text, texts};
use crate::printable::printable;

use super::Run;

/// Commands on mails.
#[derive(Debug, Subcommand)]
pub(crate) enum MailCommand {
    /// List the mails of a head office's offers and endpoint, the newest first.
    #[command(
        after_help = "Example:\n  preauth-server mail list 45.723.001/0001-00 \
                            --status held"
    )]
    List {
        /// Id or CNPJ of the head office; everybody's when left out.
        #[arg(value_parser = CompanyRef::parse)]
        company: Option<CompanyRef>,
        /// Filter by status.
        #[arg(long, value_parser = among(MailStatus::ALL), ignore_case = true)]
        status: Option<MailStatus>,
        /// Only those of this kind.
        #[arg(long, value_parser = among(MailKind::ALL), ignore_case = true)]
        kind: Option<MailKind>,
        /// Only those about this operation.
        #[arg(long, value_name = "ID")]
        operation: Option<OperationId>,
        #[command(flatten)]
        paging: Paging,
    },
    /// Show a mail and how it fared.
    #[command(after_help = "Example:\n  preauth-server mail show \
                            01a1fe3a-25a3-7ffb-8504-107e7be706e3")]
    Show {
        /// Id of the mail.
        #[arg(value_parser = MailId::parse)]
        mail: MailId,
    },
    /// Addresses whose readers want no mails about offers.
    #[command(subcommand)]
    Suppressed(SuppressedCommand),
    /// Send a mail that failed, or was suppressed, again, at once.
    #[command(after_help = "Example:\n  preauth-server mail resend \
                            01a1fe3a-25a3-7ffb-8504-107e7be706e3")]
    Resend {
        /// Id of the mail.
        #[arg(value_parser = MailId::parse)]
        mail: MailId,
    },
}

/// Commands on addresses that are sent no mails.
#[derive(Debug, Subcommand)]
pub(crate) enum SuppressedCommand {
    /// List them, the newest first.
    #[command(
        after_help = "Example:\n  preauth-server mail suppressed list --address \
                            financeiro@fornecedor.com.br"
    )]
    List {
        /// Only the entry of this address.
        #[arg(long, value_parser = Email::parse)]
        address: Option<Email>,
        #[command(flatten)]
        paging: Paging,
    },
    /// Send mails to an address again from now on. Asks for confirmation.
    #[command(after_help = "Example:\n  preauth-server mail suppressed remove \
                            01a1fe3a-25a3-7ffb-8504-107e7be706e3 --yes")]
    Remove {
        /// Id of the entry.
        #[arg(value_parser = SuppressionId::parse)]
        entry: SuppressionId,
    },
}

const SUPPRESSED: &[Field<SuppressedAddressShape>] = &[
    Field::new(labels::ID, |it| it.id.cell()),
    Field::new(labels::RECIPIENT, |it| it.address.cell()),
    Field::new(labels::OPERATION, |it| it.operation_id.cell()),
    Field::new(labels::CREATED, |it| it.since.cell()),
];

const REMOVED: Text = Text::new(
    "mails are sent to this address again",
    "este endereço volta a receber e-mails",
);

texts! {
    remove(address: &str) {
        en: "Send mails about offers to {address} again? Its reader ended them.",
        pt: "Voltar a enviar e-mails sobre ofertas para {address}? O destinatário pediu para não receber.",
    }
}

const MAIL: View<MailShape> = View::of(&[
    Field::new(labels::ID, |it| it.id.cell()),
    Field::new(labels::KIND, |it| it.kind.cell()),
    Field::new(labels::OPERATION, |it| it.operation_id.cell()),
    Field::new(labels::RECIPIENT, |it| it.recipient.cell()),
    Field::new(labels::STATUS, |it| it.status.cell()),
    Field::new(labels::CREATED, |it| it.created_at.cell()),
    Field::new(labels::ATTEMPTS_MADE, |it| it.attempts.cell()),
    Field::new(labels::NEXT_ATTEMPT, |it| it.next_attempt_at.cell()),
    Field::new(labels::ENDED, |it| it.ended_at.cell()),
    Field::new(labels::LAST_ERROR, |it| it.last_error.cell()),
    Field::new(labels::JOINED_TO, |it| it.joined_to.cell()),
]);

const COLUMNS: &[Field<MailShape>] = &[
    Field::new(labels::ID, |it| it.id.cell()),
    Field::new(labels::STATUS, |it| it.status.cell()),
    Field::new(labels::KIND, |it| it.kind.cell().cut()),
    Field::new(labels::OPERATION, |it| it.operation_id.cell()),
    Field::new(labels::RECIPIENT, |it| it.recipient.cell()),
    Field::new(labels::CREATED, |it| it.created_at.cell()),
    Field::new(labels::NEXT_ATTEMPT, |it| it.next_attempt_at.cell()),
    Field::new(labels::JOINED_TO, |it| it.joined_to.cell()),
];

impl Run for MailCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::List {
                company,
                status,
                kind,
                operation,
                paging,
            } => {
                let path = match company {
                    Some(company) => {
                        let company = session.company(&company).await?;
                        format!("companies/{company}/notices")
                    }
                    None => "notices".to_owned(),
                };
                let call = Call::get(path)
                    .query("status", status)
                    .query("kind", kind)
                    .query("operationId", operation);
                session.list(call, &paging, COLUMNS).await
            }
            Self::Show { mail } => {
                let call = Call::get(format!("notices/{mail}"));
                session.show(call, &MAIL).await
            }
            Self::Suppressed(SuppressedCommand::List { address, paging }) => {
                let call = Call::get("suppressed-addresses").query("address", address);
                session.list(call, &paging, SUPPRESSED).await
            }
            Self::Suppressed(SuppressedCommand::Remove { entry }) => {
                let path = format!("suppressed-addresses/{entry}");
                let question = |language, entry: &SuppressedAddressShape| {
                    remove(language, &printable(entry.address.as_str()))
                };
                session.confirm(Call::get(&*path), question).await?;
                session.end(Call::delete(path), REMOVED).await
            }
            Self::Resend { mail } => {
                let call = Call::post(format!("notices/{mail}/resend"));
                session.show(call, &MAIL).await
            }
        }
    }
}
