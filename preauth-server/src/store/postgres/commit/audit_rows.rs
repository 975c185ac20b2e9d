//! The rows that a group of commits leaves in the audit log.

use preauth_core::port::{ActingOperator, Audited, Commit};
use uuid::Uuid;

use crate::directory::AuditOutcome;
use crate::store::audited_commit;

use super::super::statement::{Statement, rows};

rows! {
    /// The row of a commit that an operator's request caused.
    AuditRow, AuditRows as "audit_row" {
        n: i32,
        request_id: Uuid,
        at: i64,
        operator_id: Option<Uuid>,
        operator_name: &'a str,
        role: &'a str,
        address: String,
        action: &'a str,
        outcome: &'a str,
        record: String,
        company_id: Uuid,
    }
}

impl<'a> AuditRows<'a> {
    pub(super) fn add(
        &mut self,
        n: i32,
        operator: &'a ActingOperator,
        audited: &'a Audited,
        commit: &Commit,
    ) {
        self.push(AuditRow {
            n,
            request_id: *operator.request.as_uuid(),
            at: commit.event.at.unix_millis(),
            operator_id: operator.id.map(|id| *id.as_uuid()),
            operator_name: operator.name.as_str(),
            role: audited.role.as_str(),
            address: operator.address.to_string(),
            action: audited.action,
            outcome: AuditOutcome::Done.as_str(),
            record: audited_commit::record(commit, audited).into_owned(),
            company_id: *commit.write.head_office().as_uuid(),
        });
    }

    /// A request that has its row leaves no second one.
    pub(super) fn write(statement: &mut Statement) {
        statement.part(
            "audited AS (
                 INSERT INTO audit_log (request_id, at, operator_id, operator_name, role, address,
                     action, outcome, record, company_id)
                 SELECT request_id, at, operator_id, operator_name, role, address, action, outcome,
                     record, company_id
                 FROM audit_row WHERE n IN (SELECT n FROM written)
                 ON CONFLICT (request_id) DO NOTHING)",
        );
    }
}
