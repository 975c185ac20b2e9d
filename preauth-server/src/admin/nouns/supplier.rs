//! `supplier`: suppliers that a head office and its branches do not deal with.

use clap::Subcommand;
use preauth_core::value::Cnpj;

use crate::admin::Failure;
use crate::admin::call::Call;
use crate::admin::company_ref::CompanyRef;
use crate::admin::output::{Field, Shown as _, View};
use crate::admin::paging::Paging;
use crate::admin::session::Session;
use crate::http::platform::blocked_suppliers::BlockedSupplier;
use crate::labels;
use crate::language::Text;

use super::Run;

/// Commands on a company's block list.
#[derive(Debug, Subcommand)]
pub(crate) enum SupplierCommand {
    /// Refuse offers to a supplier and all its branches, registered or not.
    #[command(
        after_help = "Example:\n  preauth-server supplier block 45.723.001/0001-00 \
                            98.765.432/0001-98"
    )]
    Block {
        /// Id or CNPJ of the head office.
        #[arg(value_parser = CompanyRef::parse)]
        company: CompanyRef,
        /// CNPJ of the supplier.
        #[arg(value_parser = Cnpj::parse)]
        supplier: Cnpj,
    },
    /// Allow offers to a supplier and all its branches again.
    #[command(
        after_help = "Example:\n  preauth-server supplier unblock 45.723.001/0001-00 \
                            98.765.432/0001-98"
    )]
    Unblock {
        /// Id or CNPJ of the head office.
        #[arg(value_parser = CompanyRef::parse)]
        company: CompanyRef,
        /// CNPJ of the supplier.
        #[arg(value_parser = Cnpj::parse)]
        supplier: Cnpj,
    },
    /// List the suppliers that a head office blocks.
    #[command(after_help = "Example:\n  preauth-server supplier list 45.723.001/0001-00")]
    List {
        /// Id or CNPJ of the head office.
        #[arg(value_parser = CompanyRef::parse)]
        company: CompanyRef,
        #[command(flatten)]
        paging: Paging,
    },
}

const COLUMNS: &[Field<BlockedSupplier>] = &[Field::new(labels::CNPJ, |it| it.cnpj.cell())];
const BLOCKED: View<BlockedSupplier> =
    View::of(&[Field::new(labels::BLOCKED, |it| it.cnpj.cell())]);
const NOT_BLOCKED: Text = Text::new(
    "the supplier is not blocked",
    "o fornecedor não está bloqueado",
);

impl Run for SupplierCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        let (Self::Block { company, .. }
        | Self::Unblock { company, .. }
        | Self::List { company, .. }) = &self;
        let company = session.company(company).await?;
        let path = format!("companies/{company}/blocked-suppliers");
        match self {
            Self::Block { supplier, .. } => {
                let call = Call::put(format!("{path}/{supplier}"));
                session.show(call, &BLOCKED).await
            }
            Self::Unblock { supplier, .. } => {
                let call = Call::delete(format!("{path}/{supplier}"));
                session.end(call, NOT_BLOCKED).await
            }
            Self::List { paging, .. } => session.list(Call::get(path), &paging, COLUMNS).await,
        }
    }
}
