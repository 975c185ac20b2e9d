//! `user`: the users of a company.

use clap::{Args, Subcommand};
use preauth_core::value::{Email, Permission, PersonName, UserId};

use crate::admin::Failure;
use crate::admin::arguments::among;
use crate::admin::call::Call;
use crate::admin::company_ref::CompanyRef;
use crate::admin::once::Once;
use crate::admin::output::{Field, Shown as _, View, yes_or_no};
use crate::admin::paging::Paging;
use crate::admin::session::Session;
use crate::http::platform::users::{ChangedUser, NewUser, User};
use crate::labels;

use super::Run;

/// Commands on users.
#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Add a user to a company.
    #[command(
        after_help = "Example:\n  preauth-server user add 45.723.001/0001-00 --name Ana \
                            --email ana@azul.example.com \
                            --permission request_advances,pre_authorize_advances"
    )]
    Add {
        /// Id or CNPJ of the company.
        #[arg(value_parser = CompanyRef::parse)]
        company: CompanyRef,
        /// Name of the person.
        #[arg(long, value_parser = PersonName::parse)]
        name: PersonName,
        /// E-mail address; used once per company.
        #[arg(long, value_parser = Email::parse)]
        email: Email,
        #[command(flatten)]
        permissions: Permissions,
        #[command(flatten)]
        once: Once,
    },
    /// Change what is given about a user, and leave the rest.
    #[command(after_help = "Example:\n  preauth-server user set \
                            01a1fe3a-25a3-7ffb-8504-107e7be706e3 --deactivate")]
    Set {
        /// Id of the user.
        #[arg(value_parser = UserId::parse)]
        user: UserId,
        #[command(flatten)]
        change: Change,
    },
    /// List the users of a company, the newest first.
    #[command(after_help = "Example:\n  preauth-server user list 45.723.001/0001-00")]
    List {
        /// Id or CNPJ of the company.
        #[arg(value_parser = CompanyRef::parse)]
        company: CompanyRef,
        #[command(flatten)]
        paging: Paging,
    },
    /// Show a user.
    #[command(after_help = "Example:\n  preauth-server user show \
                            01a1fe3a-25a3-7ffb-8504-107e7be706e3")]
    Show {
        /// Id of the user.
        #[arg(value_parser = UserId::parse)]
        user: UserId,
    },
}

/// The permissions of a user. The user in whose name a key acts needs both.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Permissions {
    /// A permission of the user; may be repeated.
    #[arg(long, value_delimiter = ',', value_parser = among(Permission::ALL), ignore_case = true)]
    permission: Vec<Permission>,
    /// The user may do nothing.
    #[arg(long)]
    no_permissions: bool,
}

/// The fields to change.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Change {
    /// New name.
    #[arg(long, value_parser = PersonName::parse)]
    name: Option<PersonName>,
    /// New e-mail address.
    #[arg(long, value_parser = Email::parse)]
    email: Option<Email>,
    /// All that the user may do from now on; may be repeated.
    #[arg(long, value_delimiter = ',', value_parser = among(Permission::ALL), ignore_case = true)]
    permission: Vec<Permission>,
    /// The user may do nothing from now on.
    #[arg(long, conflicts_with = "permission")]
    no_permissions: bool,
    /// Let the user act again.
    #[arg(long, conflicts_with = "deactivate")]
    activate: bool,
    /// Refuse what is done in the user's name, keys included.
    #[arg(long)]
    deactivate: bool,
}

const USER: View<User> = View::of(&[
    Field::new(labels::ID, |it| it.id.cell()),
    Field::new(labels::COMPANY, |it| it.company_id.cell()),
    Field::new(labels::NAME, |it| it.name.cell()),
    Field::new(labels::EMAIL, |it| it.email.cell()),
    Field::new(labels::PERMISSIONS, |it| it.permissions.cell()),
    Field::new(labels::ACTIVE_USER, |it| yes_or_no(it.active)),
    Field::new(labels::CREATED, |it| it.created_at.cell()),
]);

const COLUMNS: &[Field<User>] = &[
    Field::new(labels::ID, |it| it.id.cell()),
    Field::new(labels::NAME, |it| it.name.cell()),
    Field::new(labels::EMAIL, |it| it.email.cell()),
    Field::new(labels::ACTIVE_USER, |it| yes_or_no(it.active)),
    Field::new(labels::PERMISSIONS, |it| it.permissions.cell()),
];

impl Run for UserCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Add {
                company,
                name,
                email,
                permissions,
                once,
            } => {
                let company = session.company(&company).await?;
                let body = NewUser {
                    name,
                    email,
                    permissions: permissions.permission.into_iter().collect(),
                    active: None,
                };
                let call = once.post(format!("companies/{company}/users")).body(body);
                session.show(call, &USER).await
            }
            Self::Set { user, change } => {
                let call = Call::patch(format!("users/{user}")).body(change.body());
                session.show(call, &USER).await
            }
            Self::List { company, paging } => {
                let company = session.company(&company).await?;
                let call = Call::get(format!("companies/{company}/users"));
                session.list(call, &paging, COLUMNS).await
            }
            Self::Show { user } => {
                session
                    .show(Call::get(format!("users/{user}")), &USER)
                    .await
            }
        }
    }
}

impl Change {
    fn body(self) -> ChangedUser {
        let names_permissions = self.no_permissions || !self.permission.is_empty();
        let names_active = self.activate || self.deactivate;
        ChangedUser {
            name: self.name,
            email: self.email,
            permissions: names_permissions.then(|| self.permission.into_iter().collect()),
            active: names_active.then_some(self.activate),
        }
    }
}
