//! One row of the audit log.

use preauth_core::port::{ActingOperator, Commit};
use preauth_core::value::Timestamp;
use uuid::Uuid;

use crate::audit_trail::AuditedRequest;
use crate::directory::{AuditOutcome, Change};
use crate::store::audited_commit;
use crate::store::error::WriteError;
use crate::store::rows::Columns;

use super::super::{Session, query};

/// The kinds of records whose company is another column of their table: where to look, and by which id.
const COMPANIES: [(&str, &str); 4] = [
    (
        "users/",
        "SELECT company_id AS company FROM users WHERE id = $1",
    ),
    (
        "api-keys/",
        "SELECT company_id AS company FROM api_keys WHERE id = $1",
    ),
    (
        "deliveries/",
        "SELECT head_office_id AS company FROM deliveries WHERE id = $1",
    ),
    (
        "notices/",
        "SELECT head_office_id AS company FROM notices WHERE id = $1",
    ),
];

/// The row besides the operator.
struct Rest<'a> {
    at: Timestamp,
    role: &'a str,
    action: &'a str,
    outcome: AuditOutcome,
    record: &'a str,
    company: Option<Uuid>,
    changes: Option<String>,
}

/// Leaves the row of a request.
pub(super) async fn insert(
    session: &mut dyn Session,
    request: &AuditedRequest,
    outcome: AuditOutcome,
    changes: &[Change],
) -> Result<(), WriteError> {
    let record = request.record();
    let company = match request.company {
        Some(company) => Some(*company.as_uuid()),
        None => company_of(session, &record).await?,
    };
    let changes = (!changes.is_empty()).then(|| serde_json::json!(changes).to_string());
    let rest = Rest {
        at: request.at,
        role: request.audited.role.as_str(),
        action: request.audited.action,
        outcome,
        record: &record,
        company,
        changes,
    };
    write(session, &request.operator, rest).await
}

/// Leaves the row of a commit, if it has one.
pub(in crate::store) async fn of_commit(
    session: &mut dyn Session,
    commit: &Commit,
) -> Result<(), WriteError> {
    let (Some(operator), Some(audited)) = (&commit.operator, &commit.audited) else {
        return Ok(());
    };
    let rest = Rest {
        at: commit.event.at,
        role: audited.role.as_str(),
        action: audited.action,
        outcome: AuditOutcome::Done,
        record: &audited_commit::record(commit, audited),
        company: Some(*commit.write.head_office().as_uuid()),
        changes: None,
    };
    write(session, operator, rest).await
}

/// A request that has its row leaves no second one.
async fn write(
    session: &mut dyn Session,
    operator: &ActingOperator,
    rest: Rest<'_>,
) -> Result<(), WriteError> {
    query(
        "INSERT INTO audit_log (request_id, at, operator_id, operator_name, role, address, action, outcome,
             record, company_id, changes)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
         ON CONFLICT (request_id) DO NOTHING",
    )
    .bind(operator.request.as_uuid())
    .bind(rest.at.unix_millis())
    .bind(operator.id.map(|id| *id.as_uuid()))
    .bind(operator.name.as_str())
    .bind(rest.role)
    .bind(operator.address.to_string())
    .bind(rest.action)
    .bind(rest.outcome.as_str())
    .bind(rest.record)
    .bind(rest.company)
    .bind(rest.changes)
    .execute(session)
    .await?;
    Ok(())
}

/// The company of a record, by its kind.
async fn company_of(session: &mut dyn Session, record: &str) -> Result<Option<Uuid>, WriteError> {
    let id = |kind: &str| record.strip_prefix(kind).and_then(|id| id.parse().ok());
    if let Some(company) = id("companies/") {
        return Ok(Some(company));
    }
    let mut kinds = COMPANIES.into_iter();
    let found = kinds.find_map(|(kind, statement)| Some((id(kind)?, statement)));
    let Some((id, statement)) = found else {
        return Ok(None);
    };
    let id: Uuid = id;
    let row = query(statement).bind(id).fetch_optional(session).await?;
    let company = row.map(|row| Columns::of("audit_log", &row).uuid("company"));
    Ok(company.transpose()?)
}
