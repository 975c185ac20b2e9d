//! POST /operations/{id}/extensions: an extension of the boleto is requested.

use preauth_core::operation::{Command, Extension, ExtensionStatus, Operation};
use preauth_core::port::ExtensionRecord;
use preauth_core::service::{PlatformKey, ReplyOf};
use preauth_core::value::{DueDate, ExtensionId, FingerprintBuilder, Money, OperationId};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::directory::OperationExtension;
use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Problems};
use crate::http::json::Json;
use crate::http::path_id;
use crate::http::platform::create::Create;
use crate::http::platform::{PlatformApi, operations};
use crate::http::problem::Problem;
use crate::http::reply::Reply;

use super::ExtensionShape;

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Add;

#[async_trait]
impl Create for Add {
    type New = WantedExtension;

    fn parse(&self, tree: &Json) -> Result<WantedExtension, Vec<Problem>> {
        parse(tree)
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
        operations::perform_with_reply(api, operation, &command, reply).await?;
        Ok(Reply::json(StatusCode::CREATED, body))
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(in crate::http::platform) struct WantedExtension {
    new_due_date: DueDate,
    total_amount: Money,
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

fn parse(tree: &Json) -> Result<WantedExtension, Vec<Problem>> {
    let mut problems = Problems::default();
    let wanted = Fields::body(tree, &mut problems).and_then(|body| {
        let new_due_date = body.text("newDueDate", DueDate::parse, &mut problems);
        let total_amount = body.money("totalAmount", &mut problems);
        Some(WantedExtension {
            new_due_date: new_due_date?,
            total_amount: total_amount?,
        })
    });
    problems.unless_any(wanted)
}

#[cfg(test)]
mod tests {
    use super::{Json, parse};

    #[test]
    fn every_problem_is_reported() {
        let body = br#"{"newDueDate": "2027-2-1", "totalAmount": 0}"#;
        let found = parse(&Json::parse(body).unwrap()).unwrap_err();
        let fields: Vec<_> = found.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(fields, ["newDueDate", "totalAmount"]);
    }
}
