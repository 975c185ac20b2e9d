//! An extension as answers show it.

use preauth_core::wire::Amount;
use serde::Serialize;

use crate::directory::OperationExtension;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::http::platform) struct ExtensionShape {
    id: i64,
    operation_id: i64,
    status: &'static str,
    new_due_date: String,
    total_amount: Amount,
}

impl From<&OperationExtension> for ExtensionShape {
    fn from(found: &OperationExtension) -> Self {
        let extension = &found.record.extension;
        Self {
            id: extension.id.get(),
            operation_id: found.operation.get(),
            status: found.record.status.as_str(),
            new_due_date: extension.new_due_date.to_string(),
            total_amount: extension.total_amount.into(),
        }
    }
}
