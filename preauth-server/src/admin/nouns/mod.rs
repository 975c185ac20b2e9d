//! The nouns of the command line, one file each.

mod company;
mod credit;
mod delivery;
mod endpoint;
mod extension;
mod invoice;
mod key;
mod log;
mod mail;
mod master_key;
mod operation;
mod operator;
mod overview;
mod payment_order;
mod personal_data;
mod report;
mod resend_range;
mod supplier;
mod user;

use clap::{Args, Subcommand};

use super::Failure;
use super::options::{Noun, Single};
use super::session::Session;
use crate::language::Language;

/// The commands of an operator on the platform.
#[derive(Debug, Subcommand)]
pub(crate) enum AdminCommand {
    /// Companies: construction companies, their branches, suppliers.
    Company(Noun<company::CompanyCommand>),
    /// Users of a company.
    User(Noun<user::UserCommand>),
    /// API keys of a company.
    Key(Noun<key::KeyCommand>),
    /// Credit analyses of companies.
    Credit(Noun<credit::CreditCommand>),
    /// Suppliers that a company does not deal with.
    Supplier(Noun<supplier::SupplierCommand>),
    /// Offers and advances, and every step of their life.
    Operation(Noun<operation::OperationCommand>),
    /// Boletos that fall due later.
    Extension(Noun<extension::ExtensionCommand>),
    /// Invoices that were received.
    Invoice(Noun<invoice::InvoiceCommand>),
    /// Orders to pay suppliers.
    PaymentOrder(Noun<payment_order::PaymentOrderCommand>),
    /// Where a company receives events.
    Endpoint(Noun<endpoint::EndpointCommand>),
    /// Events on their way to an endpoint.
    #[command(alias = "deliveries")]
    Delivery(Noun<delivery::DeliveryCommand>),
    /// Mails to suppliers and companies.
    #[command(alias = "notice")]
    Mail(Noun<mail::MailCommand>),
    /// Keys that encrypt signing secrets.
    MasterKey(Noun<master_key::MasterKeyCommand>),
    /// Who may call the platform API, and what each of them may do.
    Operator(Noun<operator::OperatorCommand>),
    /// What needs attention over all companies.
    Overview(Noun<overview::OverviewCommand>),
    /// What happened by day or month: offers, requests, amounts, payouts, expiries, failures.
    #[command(
        after_help = "Example:\n  preauth-server report --by month --per-company --csv --lang pt"
    )]
    Report(Single<report::ReportArgs>),
    /// What is stored of the persons of a company, and its erasure.
    PersonalData(Noun<personal_data::PersonalDataCommand>),
    /// What operators did.
    Log(Noun<log::LogCommand>),
}

impl AdminCommand {
    /// Does it.
    pub(crate) async fn run(self, language: Language) -> Result<(), Failure> {
        match self {
            Self::Company(noun) => run(noun, language).await,
            Self::User(noun) => run(noun, language).await,
            Self::Key(noun) => run(noun, language).await,
            Self::Credit(noun) => run(noun, language).await,
            Self::Supplier(noun) => run(noun, language).await,
            Self::Operation(noun) => run(noun, language).await,
            Self::Extension(noun) => run(noun, language).await,
            Self::Invoice(noun) => run(noun, language).await,
            Self::PaymentOrder(noun) => run(noun, language).await,
            Self::Endpoint(noun) => run(noun, language).await,
            Self::Delivery(noun) => run(noun, language).await,
            Self::Mail(noun) => run(noun, language).await,
            Self::MasterKey(noun) => run(noun, language).await,
            Self::Operator(noun) => run(noun, language).await,
            Self::Overview(noun) => run(noun, language).await,
            Self::Report(single) => run_one(single, language).await,
            Self::PersonalData(noun) => run(noun, language).await,
            Self::Log(noun) => run(noun, language).await,
        }
    }
}

/// A command of a noun.
trait Run {
    /// Calls the platform and prints the answer.
    async fn run(self, session: &Session) -> Result<(), Failure>;
}

/// A command that stands by itself.
trait RunOne {
    /// Calls the platform and prints the answer.
    async fn run(self, session: &Session) -> Result<(), Failure>;
}

async fn run_one<C: Args + RunOne>(single: Single<C>, language: Language) -> Result<(), Failure> {
    let session = Session::open(&single.options, language)?;
    single.arguments.run(&session).await
}

async fn run<C: Subcommand + Run>(noun: Noun<C>, language: Language) -> Result<(), Failure> {
    let session = Session::open(&noun.options, language)?;
    noun.command.run(&session).await
}
