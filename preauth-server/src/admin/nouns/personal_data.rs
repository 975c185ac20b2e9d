//! `personal-data`: what is stored of the persons of a company, a copy of it, its erasure.

use clap::Subcommand;
use preauth_core::value::Cnpj;

use crate::admin::Failure;
use crate::admin::call::Call;
use crate::admin::output::{self, Field, Section, Shown as _, View};
use crate::admin::session::Session;
use crate::http::platform::personal_data::{ErasureShape, PersonalDataShape};
use crate::labels;
use crate::language::{Text, texts};

use super::Run;

/// Commands on the personal data of exactly one company: a branch is a company of its own.
#[derive(Debug, Subcommand)]
pub(crate) enum PersonalDataCommand {
    /// Count what is stored, and what prevents an erasure.
    #[command(after_help = "Example:\n  preauth-server personal-data show 11.444.777/0001-61")]
    Show {
        /// CNPJ of the company.
        #[arg(value_parser = Cnpj::parse)]
        cnpj: Cnpj,
    },
    /// Print a copy as JSON.
    #[command(after_help = "Example:\n  preauth-server personal-data export 11.444.777/0001-61")]
    Export {
        /// CNPJ of the company.
        #[arg(value_parser = Cnpj::parse)]
        cnpj: Cnpj,
    },
    /// Erase contacts, users' names and addresses, mails and invoice files; operations, events and totals stay.
    /// Asks for confirmation.
    #[command(after_help = "Example:\n  preauth-server personal-data erase 11.444.777/0001-61")]
    Erase {
        /// CNPJ of the company.
        #[arg(value_parser = Cnpj::parse)]
        cnpj: Cnpj,
    },
}

const FOUND: View<PersonalDataShape> = View {
    fields: &[
        Field::new(labels::COMPANY, |it| it.company_id.cell()),
        Field::new(labels::CNPJ, |it| it.cnpj.cell()),
        Field::new(labels::CONTACTS, |it| it.contacts.cell()),
        Field::new(labels::USERS, |it| it.users.cell()),
        Field::new(labels::MAILS, |it| it.mails.cell()),
        Field::new(labels::INVOICE_FILES, |it| it.files.cell()),
        Field::new(labels::NO_MAILS_WANTED, |it| it.suppressed_addresses.cell()),
        Field::new(labels::IN_PROGRESS, |it| it.operations_in_progress.cell()),
        Field::new(labels::OPEN_ORDERS, |it| it.open_payment_orders.cell()),
    ],
    sections: &[Section::Table {
        title: labels::ERASURES,
        table: |it, screen| output::table(ERASURES, &it.erasures, screen),
    }],
};
const ERASURES: &[Field<ErasureShape>] = &[
    Field::new(labels::BEGAN, |it| it.began_at.cell()),
    Field::new(labels::COMPLETED, |it| it.completed_at.cell()),
    Field::new(labels::BY, |it| it.operator.cell()),
    Field::new(labels::CONTACTS, |it| it.contacts.cell()),
    Field::new(labels::USERS, |it| it.users.cell()),
    Field::new(labels::MAILS, |it| it.mails.cell()),
    Field::new(labels::INVOICE_FILES, |it| it.files.cell()),
];
const ERASED: View<ErasureShape> = View::of(ERASURES);
const WHAT_STAYS: Text = Text::new(
    "addresses whose readers want no mails are kept on that list; backups keep what they have",
    "endereços cujos leitores não querem e-mails ficam nessa lista; os backups mantêm o que têm",
);

texts! {
    erase(cnpj: &str, contacts: u64, users: u64, mails: u64, files: u64) {
        en: "Erase for good the personal data of {cnpj}: {contacts} contacts, {users} users (whose keys will be refused), {mails} mails, {files} invoice files?",
        pt: "Apagar definitivamente os dados pessoais de {cnpj}: {contacts} contatos, {users} usuários (cujas chaves serão recusadas), {mails} e-mails, {files} arquivos de nota?",
    }
}

impl Run for PersonalDataCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Show { cnpj } => session.show(found(cnpj), &FOUND).await,
            Self::Export { cnpj } => {
                session
                    .print_answer(Call::get(format!("personal-data/{cnpj}/export")))
                    .await
            }
            Self::Erase { cnpj } => {
                let question = |language, it: &PersonalDataShape| {
                    let masked = it.cnpj.masked();
                    erase(language, &masked, it.contacts, it.users, it.mails, it.files)
                };
                session.confirm(found(cnpj), question).await?;
                let call = Call::post(format!("personal-data/{cnpj}/erasure"));
                // A request erases a part of what very many operations have.
                let mut erasure: ErasureShape = session.ask(call.clone()).await?;
                while erasure.completed_at.is_none() {
                    erasure = session.ask(call.clone()).await?;
                }
                session.show_part(&erasure, &ERASED)?;
                session.note(WHAT_STAYS)
            }
        }
    }
}

fn found(cnpj: Cnpj) -> Call {
    Call::get(format!("personal-data/{cnpj}"))
}
