//! `/operations/{id}/extensions` and `/extensions/{id}`: later due dates of a boleto.

use preauth_core::ErrorCode;
use preauth_core::operation::{Command, Extension, ExtensionStatus, Operation};
use preauth_core::port::ExtensionRecord;
use preauth_core::service::{PlatformKey, ReplyOf};
use preauth_core::value::{DueDate, ExtensionId, FingerprintBuilder, Money, OperationId};
use preauth_core::wire::Open;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::directory::OperationExtension;
use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::{answer, request};
use crate::http::reply::Reply;
use crate::http::{convert, path_id};

use super::create::Create;
use super::endpoint::{Endpoint, existing, ok};
use super::sections::{OPERATION, OPERATIONS};
use super::{PlatformApi, if_version, lookup, operations, paging};

answer! {
    /// A later due date of a boleto.
    #[derive(Debug)]
    pub(crate) struct ExtensionShape = "Extension" {
        /// The extension's id.
        id: ExtensionId,
        /// The operation's id.
        operation_id: OperationId,
        /// Status.
        status: Open<ExtensionStatus>,
        /// New due date of the boleto.
        new_due_date: DueDate = "2027-02-20",
        /// Total of the extended boleto.
        total_amount: Money = 12_900.0,
    }
}

impl From<&OperationExtension> for ExtensionShape {
    fn from(found: &OperationExtension) -> Self {
        let extension = &found.record.extension;
        Self {
            id: extension.id,
            operation_id: found.operation,
            status: found.record.status.into(),
            new_due_date: extension.new_due_date,
            total_amount: extension.total_amount,
        }
    }
}

request! {
    /// The new boleto.
    #[derive(Debug)]
    pub(crate) struct WantedExtension = "NewExtension" {
        /// After the boleto's, and at most 180 days from today.
        new_due_date: DueDate = "2027-02-20",
        /// Its total.
        total_amount: Money = 12_900.0,
    }
}

/// Newest first.
#[derive(Clone, Copy)]
pub(super) struct List;

#[async_trait]
impl Endpoint for List {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(
                OPERATIONS,
                "listExtensions",
                "List an operation's extensions",
            )
            .number(OPERATION, ErrorCode::AnticipationNotFound)
            .paged()
            .answers(200, "Newest first.", Schema::list_of::<ExtensionShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let page = paging::page(req)?;
        let operation = lookup::operation(api, req).await?;
        let found = api.directory.extensions(operation.id, page).await?;
        Ok(paging::reply(&found, page, |each| {
            ExtensionShape::from(each)
        }))
    }
}

/// An extension of the boleto is requested.
#[derive(Clone, Copy)]
pub(super) struct Add;

#[async_trait]
impl Create for Add {
    type New = WantedExtension;

    fn document(&self, operation: Described) -> Described {
        if_version::described(operation)
            .titled(
                OPERATIONS,
                "addExtension",
                "Ask for a later due date of the boleto",
            )
            .number(OPERATION, ErrorCode::AnticipationNotFound)
            .note("The boleto must be out (TO_RECEIVE), with no other extension open.")
            .body("The new boleto.", Schema::of::<WantedExtension>())
            .answers(201, "Open.", Schema::of::<ExtensionShape>())
            .refuses(&[ErrorCode::AnticipationInvalidTransition])
    }

    fn describe(&self, new: &WantedExtension, parts: &mut FingerprintBuilder) {
        let WantedExtension {
            new_due_date,
            total_amount,
        } = new;
        parts.part(Some(&new_due_date.to_string()));
        parts.part(Some(&total_amount.cents().to_string()));
    }

    async fn create(
        &self,
        api: &PlatformApi,
        req: &Request,
        new: WantedExtension,
        key: Option<&PlatformKey>,
    ) -> Result<Reply, ApiError> {
        let operation = path_id::operation(req)?;
        let requested = new.requested(api.directory.reserve_extension().await?, operation);
        let body = convert::text(&ExtensionShape::from(&requested));
        let reply = key.map(|key| |_: &Operation| key.reply(body.clone()));
        let reply = reply
            .as_ref()
            .map(|reply| -> &ReplyOf<'_, Operation> { reply });
        let command = new.command(requested.record.extension.id);
        operations::perform_with_reply(api, req, operation, &command, reply).await?;
        Ok(Reply::json(StatusCode::CREATED, body))
    }
}

impl WantedExtension {
    /// The extension in its first status.
    const fn requested(&self, id: ExtensionId, operation: OperationId) -> OperationExtension {
        let extension = Extension {
            id,
            new_due_date: self.new_due_date,
            total_amount: self.total_amount,
        };
        let status = ExtensionStatus::Open;
        OperationExtension {
            operation,
            record: ExtensionRecord { extension, status },
        }
    }

    const fn command(&self, id: ExtensionId) -> Command {
        Command::CreateExtension {
            id,
            new_due_date: self.new_due_date,
            total_amount: self.total_amount,
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(OPERATIONS, "getExtension", "Get an extension")
            .number("The extension's id.", ErrorCode::ResourceNotFound)
            .answers(200, "The extension.", Schema::of::<ExtensionShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::number(req, ExtensionId::parse)?;
        reply(api, id).await
    }
}

/// The extension was paid: the boleto is replaced.
pub(super) const CONCLUDE: Settle = Settle {
    id: "concludeExtension",
    summary: "The extension was paid",
    command: |id| Command::ConcludeExtension { id },
};
/// The boleto stays unchanged.
pub(super) const CANCEL: Settle = Settle {
    id: "cancelExtension",
    summary: "The extension is cancelled",
    command: |id| Command::CancelExtension { id },
};

/// Closes an open extension.
#[derive(Clone, Copy)]
pub(super) struct Settle {
    id: &'static str,
    summary: &'static str,
    command: fn(ExtensionId) -> Command,
}

#[async_trait]
impl Endpoint for Settle {
    fn document(&self, operation: Described) -> Described {
        if_version::described(operation)
            .titled(OPERATIONS, self.id, self.summary)
            .number("The extension's id.", ErrorCode::ResourceNotFound)
            .answers(200, "The extension.", Schema::of::<ExtensionShape>())
            .refuses(&[ErrorCode::AnticipationInvalidTransition])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::number(req, ExtensionId::parse)?;
        let operation = extension(api, id).await?.operation;
        operations::perform(api, req, operation, &(self.command)(id)).await?;
        reply(api, id).await
    }
}

/// The extension of the path, or 404.
async fn extension(api: &PlatformApi, id: ExtensionId) -> Result<OperationExtension, ApiError> {
    let found = api.directory.extension(id).await?;
    existing(found)
}

/// The answer with the current state of one extension.
async fn reply(api: &PlatformApi, id: ExtensionId) -> Result<Reply, ApiError> {
    let extension = extension(api, id).await?;
    Ok(ok(&ExtensionShape::from(&extension)))
}

#[cfg(test)]
mod tests {
    use super::WantedExtension;
    use crate::http::json::Json;
    use crate::http::requested::RequestedObject as _;

    #[test]
    fn every_problem_is_reported() {
        let body = br#"{"newDueDate": "2027-2-1", "totalAmount": 0}"#;
        let found = WantedExtension::parse(&Json::parse(body).unwrap()).unwrap_err();
        let fields: Vec<_> = found.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(fields, ["newDueDate", "totalAmount"]);
    }
}
