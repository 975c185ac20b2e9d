//! `supplier`: suppliers that a head office and its branches do not deal with.

use clap::Subcommand;
use preauth_core::value::Cnpj;

use crate::admin::Failure;
use crate::admin::call::Call;
use crate::admin::company_ref::CompanyRef;
use crate::admin::output::{Field, View};
use crate::admin::paging::Paging;
use crate::admin::session::Session;

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

const COLUMNS: &[Field] = &[Field::cnpj("CNPJ", "/cnpj")];
const BLOCKED: View = View::of(&[Field::cnpj("blocked", "/cnpj")]);

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
                session.end(call, "the supplier is not blocked").await
            }
            Self::List { paging, .. } => session.list(Call::get(path), &paging, COLUMNS).await,
        }
    }
}
