//! `mail`: mails to suppliers and companies.

use clap::Subcommand;
use preauth_core::port::MailKind;
use preauth_core::value::{MailId, OperationId};

use crate::admin::Failure;
use crate::admin::arguments::among;
use crate::admin::call::Call;
use crate::admin::company_ref::CompanyRef;
use crate::admin::output::{Field, View};
use crate::admin::paging::Paging;
use crate::admin::session::Session;
use crate::directory::MailStatus;

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
        /// Id or CNPJ of the head office.
        #[arg(value_parser = CompanyRef::parse)]
        company: CompanyRef,
        /// Only those that stand so.
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
    /// Send a mail that failed again, at once.
    #[command(after_help = "Example:\n  preauth-server mail resend \
                            01a1fe3a-25a3-7ffb-8504-107e7be706e3")]
    Resend {
        /// Id of the mail.
        #[arg(value_parser = MailId::parse)]
        mail: MailId,
    },
}

const MAIL: View = View::of(&[
    Field::whole("id", "/id"),
    Field::text("kind", "/kind"),
    Field::whole("operation", "/operationId"),
    Field::text("recipient", "/recipient"),
    Field::status("status", "/status"),
    Field::moment("created", "/createdAt"),
    Field::whole("attempts", "/attempts"),
    Field::moment("next attempt", "/nextAttemptAt"),
    Field::moment("ended", "/endedAt"),
    Field::text("last error", "/lastError"),
    Field::whole("joined to", "/joinedTo"),
]);

const COLUMNS: &[Field] = &[
    Field::whole("id", "/id"),
    Field::status("status", "/status"),
    Field::text("kind", "/kind"),
    Field::whole("operation", "/operationId"),
    Field::text("recipient", "/recipient"),
    Field::moment("created", "/createdAt"),
    Field::moment("next attempt", "/nextAttemptAt"),
    Field::whole("joined to", "/joinedTo"),
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
                let company = session.company(&company).await?;
                let call = Call::get(format!("companies/{company}/notices"))
                    .query("status", status)
                    .query("kind", kind)
                    .query("operationId", operation);
                session.list(call, &paging, COLUMNS).await
            }
            Self::Show { mail } => {
                let call = Call::get(format!("notices/{mail}"));
                session.show(call, &MAIL).await
            }
            Self::Resend { mail } => {
                let call = Call::post(format!("notices/{mail}/resend"));
                session.show(call, &MAIL).await
            }
        }
    }
}
