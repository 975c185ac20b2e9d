//! `extension`: later due dates of a boleto.

use clap::Subcommand;
use preauth_core::value::{DueDate, ExtensionId, Money, OperationId};

use crate::admin::Failure;
use crate::admin::call::Call;
use crate::admin::once::Once;
use crate::admin::output::{Field, Shown as _, View};
use crate::admin::paging::Paging;
use crate::admin::session::Session;
use crate::http::platform::extensions::{ExtensionShape, WantedExtension};
use crate::labels;
use crate::language::{Language, texts};
use crate::typed_amount;

use super::Run;

/// Commands on extensions.
#[derive(Debug, Subcommand)]
pub(crate) enum ExtensionCommand {
    /// Request an extension of an operation's boleto.
    #[command(after_help = "Example:\n  preauth-server extension add 12 \
                            --new-due-date 2027-03-20 --total-amount 12900.00")]
    Add {
        /// Id of the operation.
        #[arg(value_parser = OperationId::parse)]
        operation: OperationId,
        /// When the boleto falls due once the extension is paid.
        #[arg(long, value_name = "YYYY-MM-DD", value_parser = DueDate::parse)]
        new_due_date: DueDate,
        /// Total of the extended boleto, in reais.
        #[arg(long, value_name = "REAIS", value_parser = typed_amount::parse)]
        total_amount: Money,
        #[command(flatten)]
        once: Once,
    },
    /// The extension was paid: the boleto is replaced.
    #[command(after_help = "Example:\n  preauth-server extension conclude 3")]
    Conclude {
        /// Id of the extension.
        #[arg(value_parser = ExtensionId::parse)]
        extension: ExtensionId,
    },
    /// Cancel an extension; the boleto stays as it was. Asks for confirmation.
    #[command(after_help = "Example:\n  preauth-server extension cancel 3 --yes")]
    Cancel {
        /// Id of the extension.
        #[arg(value_parser = ExtensionId::parse)]
        extension: ExtensionId,
    },
    /// List the extensions of an operation, the newest first.
    #[command(after_help = "Example:\n  preauth-server extension list 12")]
    List {
        /// Id of the operation.
        #[arg(value_parser = OperationId::parse)]
        operation: OperationId,
        #[command(flatten)]
        paging: Paging,
    },
    /// Show an extension.
    #[command(after_help = "Example:\n  preauth-server extension show 3")]
    Show {
        /// Id of the extension.
        #[arg(value_parser = ExtensionId::parse)]
        extension: ExtensionId,
    },
}

const FIELDS: &[Field<ExtensionShape>] = &[
    Field::new(labels::EXTENSION, |it| it.id.cell()),
    Field::new(labels::OPERATION, |it| it.operation_id.cell()),
    Field::new(labels::STATUS, |it| it.status.cell()),
    Field::new(labels::NEW_DUE_DATE, |it| it.new_due_date.cell()),
    Field::new(labels::TOTAL_AMOUNT, |it| it.total_amount.cell()),
];
const EXTENSION: View<ExtensionShape> = View::of(FIELDS);

texts! {
    cancel(extension: ExtensionId, operation: OperationId, new_due_date: DueDate) {
        en: "Cancel extension {extension} of operation {operation} (to {new_due_date})?",
        pt: "Cancelar a prorrogação {extension} da operação {operation} (para {new_due_date})?",
    }
}

impl Run for ExtensionCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Add {
                operation,
                new_due_date,
                total_amount,
                once,
            } => {
                let path = format!("operations/{operation}/extensions");
                let call = once.post(path).body(WantedExtension {
                    new_due_date,
                    total_amount,
                });
                session.show(call, &EXTENSION).await
            }
            Self::Conclude { extension } => {
                let call = Call::post(format!("extensions/{extension}/conclude"));
                session.show(call, &EXTENSION).await
            }
            Self::Cancel { extension } => {
                let path = format!("extensions/{extension}");
                session.confirm(Call::get(&*path), question).await?;
                session
                    .show(Call::post(format!("{path}/cancel")), &EXTENSION)
                    .await
            }
            Self::List { operation, paging } => {
                let call = Call::get(format!("operations/{operation}/extensions"));
                session.list(call, &paging, FIELDS).await
            }
            Self::Show { extension } => {
                let call = Call::get(format!("extensions/{extension}"));
                session.show(call, &EXTENSION).await
            }
        }
    }
}

fn question(language: Language, extension: &ExtensionShape) -> String {
    let ExtensionShape {
        id,
        operation_id,
        new_due_date,
        ..
    } = extension;
    cancel(language, *id, *operation_id, *new_due_date)
}
