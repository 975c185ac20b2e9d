//! POST /operations/{id}/extensions: an extension of the boleto is requested.

use preauth_core::operation::Command;
use preauth_core::value::{DueDate, ExtensionId, Money};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::error::ApiError;
use crate::http::fields::{Fields, Problems};
use crate::http::json::Json;
use crate::http::platform::resource::Endpoint;
use crate::http::platform::{PlatformApi, operations};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::{body, path_id};

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Add;

#[async_trait]
impl Endpoint for Add {
    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let operation = path_id::operation(req)?;
        let wanted = parse(&body::json(req).await?)?;
        let id = api.directory.reserve_extension().await?;
        operations::perform(api, operation, &wanted.command(id)).await?;
        super::reply(api, StatusCode::CREATED, id).await
    }
}

#[derive(Debug, PartialEq, Eq)]
struct WantedExtension {
    new_due_date: DueDate,
    total_amount: Money,
}

impl WantedExtension {
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
    fn every_problem_is_told_at_once() {
        let body = br#"{"newDueDate": "2027-2-1", "totalAmount": 0}"#;
        let found = parse(&Json::parse(body).unwrap()).unwrap_err();
        let fields: Vec<_> = found.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(fields, ["newDueDate", "totalAmount"]);
    }
}
