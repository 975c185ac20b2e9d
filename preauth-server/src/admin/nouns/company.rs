//! `company`: construction companies, their branches, suppliers.

use clap::Subcommand;
use preauth_core::value::{Cnpj, CompanyKind, CompanyName, Reason};

use crate::admin::Failure;
use crate::admin::arguments::among;
use crate::admin::call::Call;
use crate::admin::company_ref::CompanyRef;
use crate::admin::once::Once;
use crate::admin::output::{Field, Shown as _, View, yes_or_no};
use crate::admin::paging::Paging;
use crate::admin::session::Session;
use crate::http::platform::companies::{
    CompanyChange, CompanyShape, ContactShape, InvitationShape, NewCompany, NewSuspension,
};
use crate::labels;

use super::Run;

/// Commands on companies.
#[derive(Debug, Subcommand)]
pub(crate) enum CompanyCommand {
    /// Register a company, or a supplier that companies invited.
    #[command(
        after_help = "Example:\n  preauth-server company add --cnpj 45.723.001/0001-00 \
                            --name 'Construtora Azul S.A.' --kind construction"
    )]
    Add {
        /// Tax id, with or without mask.
        #[arg(long, value_parser = Cnpj::parse)]
        cnpj: Cnpj,
        /// Legal name.
        #[arg(long, value_parser = CompanyName::parse)]
        name: CompanyName,
        /// The kind of company.
        #[arg(long, value_parser = among(CompanyKind::ALL), ignore_case = true)]
        kind: CompanyKind,
        /// Id or CNPJ of its head office, for a branch.
        #[arg(long, value_name = "COMPANY", value_parser = CompanyRef::parse)]
        head_office: Option<CompanyRef>,
        #[command(flatten)]
        once: Once,
    },
    /// Correct the name of a company.
    #[command(
        after_help = "Example:\n  preauth-server company rename 45.723.001/0001-00 \
                            'Construtora Azul Ltda.'"
    )]
    Rename {
        /// Id or CNPJ.
        #[arg(value_parser = CompanyRef::parse)]
        company: CompanyRef,
        /// Legal name.
        #[arg(value_parser = CompanyName::parse)]
        name: CompanyName,
    },
    /// List the branches of a head office, the newest first.
    #[command(after_help = "Example:\n  preauth-server company branches 45.723.001/0001-00")]
    Branches {
        /// Id or CNPJ of the head office.
        #[arg(value_parser = CompanyRef::parse)]
        company: CompanyRef,
        #[command(flatten)]
        paging: Paging,
    },
    /// List what companies call a supplier that they invited and that is not registered.
    #[command(after_help = "Example:\n  preauth-server company invitations 98.765.432/0001-98")]
    Invitations {
        /// Id or CNPJ of the supplier.
        #[arg(value_parser = CompanyRef::parse)]
        company: CompanyRef,
        #[command(flatten)]
        paging: Paging,
    },
    /// List companies, the newest first.
    #[command(after_help = "Example:\n  preauth-server company list --limit 50")]
    List {
        #[command(flatten)]
        paging: Paging,
    },
    /// Show a company.
    #[command(after_help = "Example:\n  preauth-server company show 45.723.001/0001-00")]
    Show {
        /// Id or CNPJ.
        #[arg(value_parser = CompanyRef::parse)]
        company: CompanyRef,
    },
    /// Forbid the keys of a company, and of its branches, from now on. Operations in progress continue.
    #[command(
        after_help = "Example:\n  preauth-server company suspend 45.723.001/0001-00 \
                            --reason 'key leaked, contract under review'"
    )]
    Suspend {
        /// Id or CNPJ.
        #[arg(value_parser = CompanyRef::parse)]
        company: CompanyRef,
        /// Why; shown with the company.
        #[arg(long, value_parser = Reason::parse)]
        reason: Reason,
    },
    /// Let the keys of a suspended company work again.
    #[command(after_help = "Example:\n  preauth-server company resume 45.723.001/0001-00")]
    Resume {
        /// Id or CNPJ.
        #[arg(value_parser = CompanyRef::parse)]
        company: CompanyRef,
    },
}

const COMPANY: View<CompanyShape> = View::of(&[
    Field::new(labels::ID, |it| it.id.cell()),
    Field::new(labels::CNPJ, |it| it.cnpj.cell()),
    Field::new(labels::NAME, |it| it.name.cell()),
    Field::new(labels::KIND, |it| it.kind.cell()),
    Field::new(labels::REGISTERED, |it| yes_or_no(it.registered)),
    Field::new(labels::HEAD_OFFICE, |it| it.head_office_id.cell()),
    Field::new(labels::CONTACT, |it| contact(it).map(|it| &it.name).cell()),
    Field::new(labels::EMAIL, |it| contact(it).map(|it| &it.email).cell()),
    Field::new(labels::PHONE, |it| {
        contact(it).and_then(|it| it.phone.as_ref()).cell()
    }),
    Field::new(labels::CREATED, |it| it.created_at.cell()),
    Field::new(labels::SUSPENDED, |it| {
        it.suspension.as_ref().map(|it| it.since).cell()
    }),
    Field::new(labels::REASON, |it| {
        it.suspension.as_ref().map(|it| &it.reason).cell()
    }),
]);

const COLUMNS: &[Field<CompanyShape>] = &[
    Field::new(labels::ID, |it| it.id.cell()),
    Field::new(labels::CNPJ, |it| it.cnpj.cell()),
    Field::new(labels::KIND, |it| it.kind.cell()),
    Field::new(labels::NAME, |it| it.name.cell()),
];

const INVITATIONS: &[Field<InvitationShape>] = &[
    Field::new(labels::HEAD_OFFICE, |it| it.head_office_id.cell()),
    Field::new(labels::NAME, |it| it.name.cell()),
    Field::new(labels::CONTACT, |it| it.contact.name.cell()),
    Field::new(labels::EMAIL, |it| it.contact.email.cell()),
    Field::new(labels::INVITED, |it| it.invited_at.cell()),
];

fn contact(company: &CompanyShape) -> Option<&ContactShape> {
    company.contact.as_ref()
}

impl Run for CompanyCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Add {
                cnpj,
                name,
                kind,
                head_office,
                once,
            } => {
                let head_office = match head_office {
                    Some(company) => Some(session.company(&company).await?),
                    None => None,
                };
                let body = NewCompany {
                    cnpj,
                    name,
                    kind,
                    head_office_id: head_office,
                };
                let call = once.post("companies").body(body);
                session.show(call, &COMPANY).await
            }
            Self::Rename { company, name } => {
                let id = session.company(&company).await?;
                let body = CompanyChange { name: Some(name) };
                let call = Call::patch(format!("companies/{id}")).body(body);
                session.show(call, &COMPANY).await
            }
            Self::Branches { company, paging } => {
                let id = session.company(&company).await?;
                let call = Call::get(format!("companies/{id}/branches"));
                session.list(call, &paging, COLUMNS).await
            }
            Self::Invitations { company, paging } => {
                let id = session.company(&company).await?;
                let call = Call::get(format!("companies/{id}/invitations"));
                session.list(call, &paging, INVITATIONS).await
            }
            Self::List { paging } => session.list(Call::get("companies"), &paging, COLUMNS).await,
            Self::Show { company } => {
                let id = session.company(&company).await?;
                session
                    .show(Call::get(format!("companies/{id}")), &COMPANY)
                    .await
            }
            Self::Suspend { company, reason } => {
                let id = session.company(&company).await?;
                let body = NewSuspension { reason };
                let call = Call::post(format!("companies/{id}/suspend")).body(body);
                session.show(call, &COMPANY).await
            }
            Self::Resume { company } => {
                let id = session.company(&company).await?;
                let call = Call::post(format!("companies/{id}/resume"));
                session.show(call, &COMPANY).await
            }
        }
    }
}
