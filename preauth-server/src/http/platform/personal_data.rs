//! `/personal-data/{cnpj}`: the personal data of a company, a copy of it, and its erasure.

use preauth_core::ErrorCode;
use preauth_core::port::MailKind;
use preauth_core::value::{
    Cnpj, CompanyId, Email, MailId, OperationId, OperatorName, PersonName, Timestamp, UserId,
};
use preauth_core::wire::Open;
use salvo::async_trait;
use salvo::http::Request;

use crate::directory::{Company, Erasure, Invitation, PersonalData, PersonalRecords};
use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::document::Parameter;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::{Text, answer};
use crate::http::path_id;
use crate::http::reply::Reply;
use crate::invoice_files::ContentHash;

use super::calling_operator::CallingOperator;
use super::companies::ContactShape;
use super::endpoint::{Endpoint, existing, ok};
use super::sections::PERSONAL_DATA;
use super::suppressed_addresses::SuppressedAddressShape;
use super::{PlatformApi, Refusal};

/// Steps that one request makes at most; the next one continues.
const MAX_STEPS: usize = 100;
const COUNTED: &str = "Of mails about offers, files and operations in progress, those of the newest 10,000 operations as payer \
     and as supplier are counted.";

answer! {
    /// What personal data of a company there is, by the number of records.
    #[derive(Debug)]
    pub(crate) struct PersonalDataShape = "PersonalData" {
        /// The company's id.
        company_id: CompanyId,
        /// Tax id.
        cnpj: Cnpj = "11444777000161",
        /// Contacts that companies gave of it as a supplier.
        contacts: u64 = 1 => |it| it.at_least(0),
        /// Users.
        users: u64 = 2 => |it| it.at_least(0),
        /// Mails to its contacts and users.
        mails: u64 = 12 => |it| it.at_least(0),
        /// Invoice files of its operations, as payer and as supplier.
        files: u64 = 3 => |it| it.at_least(0),
        /// Addresses whose readers want no mails; an erasure keeps them.
        suppressed_addresses: u64 = 0 => |it| it.at_least(0),
        /// Operations in progress, which prevent an erasure.
        operations_in_progress: u64 = 0 => |it| it.at_least(0),
        /// Open payment orders, which prevent an erasure.
        open_payment_orders: u64 = 0 => |it| it.at_least(0),
        /// Erasures, newest first.
        erasures: Vec<ErasureShape>,
    }
}

answer! {
    /// An erasure, and the number of records that it erased.
    #[derive(Clone, Debug)]
    pub(crate) struct ErasureShape = "Erasure" {
        /// When it began; what came later is left.
        began_at: Timestamp,
        /// The operator who began it.
        operator: Text<OperatorName>,
        /// When it ended; null while something is left: the same request continues it.
        completed_at: Option<Timestamp>,
        /// Contacts.
        contacts: u64 = 1 => |it| it.at_least(0),
        /// Users.
        users: u64 = 2 => |it| it.at_least(0),
        /// Mails.
        mails: u64 = 12 => |it| it.at_least(0),
        /// Invoice files.
        files: u64 = 3 => |it| it.at_least(0),
    }
}

answer! {
    /// A copy of a company's personal data.
    #[derive(Debug)]
    pub(crate) struct PersonalDataExport = "PersonalDataExport" {
        /// The company's id.
        company_id: CompanyId,
        /// Tax id.
        cnpj: Cnpj = "11444777000161",
        /// The contact in the company's own record.
        contact: Option<ContactShape>,
        /// Contacts that companies gave of it as a supplier.
        contacts: Vec<ExportedContact>,
        /// Users.
        users: Vec<ExportedUser>,
        /// Mails to its contacts and users.
        mails: Vec<ExportedMail>,
        /// Invoice files; each is at `/operations/{id}/invoice-file`.
        files: Vec<ExportedFile>,
        /// Addresses whose readers want no mails.
        suppressed_addresses: Vec<SuppressedAddressShape>,
        /// When this copy was made.
        exported_at: Timestamp,
    }
}

answer! {
    /// A contact.
    #[derive(Debug)]
    pub(crate) struct ExportedContact {
        /// The company that gave it.
        head_office_id: CompanyId,
        /// The contact.
        contact: ContactShape,
        /// When.
        invited_at: Timestamp,
    }
}

answer! {
    /// A user.
    #[derive(Debug)]
    pub(crate) struct ExportedUser {
        /// The user's id.
        id: UserId,
        /// Name.
        name: Text<PersonName>,
        /// Address.
        email: Text<Email>,
        /// When the user was added.
        created_at: Timestamp,
    }
}

answer! {
    /// A mail.
    #[derive(Debug)]
    pub(crate) struct ExportedMail {
        /// The mail's id.
        id: MailId,
        /// The kind of mail.
        kind: Open<MailKind>,
        /// The operation that it is about.
        operation_id: Option<OperationId> = 42,
        /// The address.
        recipient: Text<Email>,
        /// When it was stored.
        created_at: Timestamp,
    }
}

answer! {
    /// An invoice file.
    #[derive(Debug)]
    pub(crate) struct ExportedFile {
        /// The operation.
        operation_id: OperationId = 42,
        /// The name that it was sent under.
        name: String = "nota.pdf",
        /// Its type.
        media_type: String = "application/pdf",
        /// Its size in bytes.
        size: u64 = 20_480 => |it| it.at_least(0),
        /// Its SHA-256, in hexadecimal digits.
        sha256: String = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    }
}

fn shape(company: &Company, found: &PersonalData) -> PersonalDataShape {
    PersonalDataShape {
        company_id: company.id,
        cnpj: company.cnpj,
        contacts: found.contacts,
        users: found.users,
        mails: found.mails,
        files: found.files,
        suppressed_addresses: found.suppressed_addresses,
        operations_in_progress: found.operations_in_progress,
        open_payment_orders: found.open_payment_orders,
        erasures: found.erasures.iter().map(ErasureShape::from).collect(),
    }
}

impl From<&Erasure> for ErasureShape {
    fn from(erasure: &Erasure) -> Self {
        Self {
            began_at: erasure.began_at,
            operator: (&erasure.operator).into(),
            completed_at: erasure.completed_at,
            contacts: erasure.contacts,
            users: erasure.users,
            mails: erasure.mails,
            files: erasure.files,
        }
    }
}

fn export(
    company: &Company,
    found: &PersonalRecords,
    exported_at: Timestamp,
) -> PersonalDataExport {
    let contact = |it: &Invitation| ExportedContact {
        head_office_id: it.head_office,
        contact: (&it.contact).into(),
        invited_at: it.invited_at,
    };
    let users = found.users.iter().map(|it| ExportedUser {
        id: it.id,
        name: (&it.name).into(),
        email: (&it.email).into(),
        created_at: it.created_at,
    });
    let mails = found.mails.iter().map(|it| ExportedMail {
        id: it.id,
        kind: it.kind.into(),
        operation_id: it.operation,
        recipient: (&it.recipient).into(),
        created_at: it.created_at,
    });
    let files = found.files.iter().map(|(operation, it)| ExportedFile {
        operation_id: *operation,
        name: it.name.clone(),
        media_type: it.media_type.clone(),
        size: it.size,
        sha256: ContentHash::from_bytes(it.sha256).to_string(),
    });
    let suppressed = found.suppressed_addresses.iter();
    PersonalDataExport {
        company_id: company.id,
        cnpj: company.cnpj,
        contact: company.contact.as_ref().map(Into::into),
        contacts: found.invitations.iter().map(contact).collect(),
        users: users.collect(),
        mails: mails.collect(),
        files: files.collect(),
        suppressed_addresses: suppressed.map(Into::into).collect(),
        exported_at,
    }
}

async fn company(api: &PlatformApi, req: &Request) -> Result<Company, ApiError> {
    let cnpj = path_id::cnpj(req)?;
    existing(api.directory.company_by_cnpj(&cnpj).await?)
}

fn of_company(operation: Described) -> Described {
    let cnpj = Schema::text(
        "The company's tax id, with or without mask. Branches are companies of their own.",
        "11444777000161",
    )
    .typed_cnpj();
    operation
        .parameter(Parameter::path("cnpj", cnpj))
        .refuses(&[ErrorCode::ResourceNotFound, ErrorCode::ValidationError])
}

#[derive(Clone, Copy)]
pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    fn document(&self, operation: Described) -> Described {
        of_company(operation.titled(
            PERSONAL_DATA,
            "getPersonalData",
            "Count a company's personal data",
        ))
        .note(COUNTED)
        .answers(200, "As it stands.", Schema::of::<PersonalDataShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let company = company(api, req).await?;
        let found = api.directory.personal_data(&company).await?;
        Ok(ok(&shape(&company, &found)))
    }
}

#[derive(Clone, Copy)]
pub(super) struct Export;

#[async_trait]
impl Endpoint for Export {
    fn document(&self, operation: Described) -> Described {
        of_company(operation.titled(
            PERSONAL_DATA,
            "exportPersonalData",
            "Copy a company's personal data",
        ))
        .note("At most the newest 10,000 of a kind.")
        .answers(200, "The copy.", Schema::of::<PersonalDataExport>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let company = company(api, req).await?;
        let found = api.directory.personal_records(&company).await?;
        Ok(ok(&export(&company, &found, api.clock.now())))
    }
}

/// Idempotent: it continues what was interrupted, and changes nothing when nothing is left.
#[derive(Clone, Copy)]
pub(super) struct Erase;

#[async_trait]
impl Endpoint for Erase {
    fn document(&self, operation: Described) -> Described {
        of_company(operation.titled(
            PERSONAL_DATA,
            "erasePersonalData",
            "Erase a company's personal data",
        ))
        .note(
            "Erases contacts, names and addresses of users, mails and invoice files; operations, events and totals stay. Users are \
             inactive afterwards, and their keys are refused. Refused while an operation of the company is in progress or a payment \
             order open. Of a company with very many operations a part is left: `completedAt` is null, and the same request continues.",
        )
        .answers(200, "The erasure.", Schema::of::<ErasureShape>())
        .refuses(&[ErrorCode::ResourceConflict])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let company = company(api, req).await?;
        let operator = CallingOperator::of(req)?.name;
        let begun = api
            .directory
            .begin_erasure(&company, &operator, api.clock.now());
        let begun = begun.await;
        let mut erasure = begun.map_err(Refusal::InProgress.on_conflict())?;
        for _ in 0..MAX_STEPS {
            if erasure.completed_at.is_some() {
                break;
            }
            let (began_at, now) = (erasure.began_at, api.clock.now());
            let step = api.directory.continue_erasure(&company, began_at, now);
            erasure = step.await?;
        }
        let is_complete = erasure.completed_at.is_some();
        tracing::info!(target: "personal_data", company = %company.id, is_complete, "erased");
        Ok(ok(&ErasureShape::from(&erasure)))
    }
}
