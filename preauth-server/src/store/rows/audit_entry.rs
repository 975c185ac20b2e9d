//! Rows of the audit log.

use preauth_core::port::ActingOperator;
use preauth_core::value::{CompanyId, OperatorId, RequestId};
use uuid::Uuid;

use crate::directory::AuditEntry;

use super::columns::{Columns, Corrupt};
use super::raw::RawRow;

pub(in crate::store) fn audit_entry(row: &impl RawRow) -> Result<AuditEntry, Corrupt> {
    let columns = Columns::of("audit_log", row);
    let operator: Option<Uuid> = columns.raw("operator_id")?;
    let company: Option<Uuid> = columns.raw("company_id")?;
    let changes: Option<&str> = columns.raw("changes")?;
    let changes = changes.map(serde_json::from_str).transpose();
    Ok(AuditEntry {
        number: columns.number("id", |id| u64::try_from(id).ok())?,
        at: columns.timestamp("at")?,
        operator: ActingOperator {
            id: operator.map(OperatorId::new),
            name: columns.parsed("operator_name")?,
            request: RequestId::new(columns.uuid("request_id")?),
            address: columns.parsed("address")?,
        },
        role: columns.raw("role")?,
        action: columns.raw("action")?,
        outcome: columns.raw("outcome")?,
        record: columns.raw("record")?,
        company: company.map(CompanyId::new),
        changes: changes
            .map_err(|_| columns.corrupt("changes"))?
            .unwrap_or_default(),
    })
}
