//! `GET /audit-log`: what operators did, and what their role did not permit.

use preauth_core::access::OperatorRole;
use preauth_core::port::PageRequest;
use preauth_core::value::{CompanyId, OperatorName, TextError, Timestamp};
use preauth_core::wire::Open;
use salvo::async_trait;
use salvo::http::Request;

use crate::directory::{AuditEntry, AuditFilter, AuditOutcome, Change};
use crate::http::error::ApiError;
use crate::http::fields::Problems;
use crate::http::list_query;
use crate::http::openapi::described::Described;
use crate::http::openapi::document::Parameter;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::answer;
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::http::reply::Reply;

use super::endpoint::Endpoint;
use super::operations::ActingOperatorShape;
use super::sections::OPERATORS;
use super::{PlatformApi, paging};

/// Maximum length of a record and of an action.
const MAX_TEXT_CHARS: usize = 200;

answer! {
    /// A request of an operator that was accepted, or that the operator's role did not permit.
    #[derive(Debug)]
    pub(crate) struct AuditEntryShape = "AuditEntry" {
        /// The row's number; a later one was written later.
        number: u64 => |it| it.at_least(1),
        /// When.
        at: Timestamp,
        operator: ActingOperatorShape,
        /// The operator's role at that moment.
        role: Open<OperatorRole>,
        /// The `operationId` in the description of this API.
        action: String = "releaseOperation",
        /// DONE: it was accepted. FORBIDDEN: the role did not permit it.
        outcome: Open<AuditOutcome>,
        /// The record, as paths name it.
        record: String = "operations/42",
        /// On whose behalf: the company of the record, or its head office.
        company_id: Option<CompanyId>,
        /// The settings that changed; neither secrets nor personal data.
        changes: Vec<ChangeShape>,
    }
}

answer! {
    /// A setting that changed.
    #[derive(Debug)]
    pub(crate) struct ChangeShape {
        /// The setting.
        setting: String = "maxTermDays",
        /// Its value before; null when it had none.
        before: Option<String> = "90",
        /// Its value after; null when it has none.
        after: Option<String> = "120",
    }
}

impl From<&AuditEntry> for AuditEntryShape {
    fn from(entry: &AuditEntry) -> Self {
        Self {
            number: entry.number,
            at: entry.at,
            operator: (&entry.operator).into(),
            role: entry.role.as_str().into(),
            action: entry.action.clone(),
            outcome: entry.outcome.as_str().into(),
            record: entry.record.clone(),
            company_id: entry.company,
            changes: entry.changes.iter().map(Into::into).collect(),
        }
    }
}

impl From<&Change> for ChangeShape {
    fn from(change: &Change) -> Self {
        Self {
            setting: change.setting.clone(),
            before: change.before.clone(),
            after: change.after.clone(),
        }
    }
}

/// Newest first.
#[derive(Clone, Copy)]
pub(super) struct List;

#[async_trait]
impl Endpoint for List {
    fn document(&self, operation: Described) -> Described {
        let text = |name, about, example| {
            let schema = Schema::text(about, example).storable(0, MAX_TEXT_CHARS);
            Parameter::query(name, schema)
        };
        let operator = Schema::text("Only of the operator with this name.", "Ana Souza")
            .visible(OperatorName::MIN_CHARS, OperatorName::MAX_CHARS);
        operation
            .titled(OPERATORS, "listAuditLog", "List what operators did")
            .note(
                "Each write of this API that was accepted has one row, committed with it; what a role did not permit has one a \
                 minute, token and operation. Of more than 10,000 that match, the newest 10,000 are listed and counted; `until` \
                 reaches older ones.",
            )
            .paged()
            .parameter(Parameter::query("operator", operator))
            .parameter(text("action", "Only this `operationId`.", "releaseOperation"))
            .parameter(text("record", "Only about this record.", "operations/42"))
            .parameter(Parameter::query("companyId", Schema::uuid("Only on behalf of this company.")))
            .parameter(Parameter::query("from", Schema::timestamp("Only from this moment on.").typed_timestamp()))
            .parameter(Parameter::query("until", Schema::timestamp("Only before this moment.").typed_timestamp()))
            .answers(200, "Newest first.", Schema::list_of::<AuditEntryShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let (filter, page) = parse(&Query::parse(req.uri().query()))?;
        let found = api.directory.audit_log(filter, page).await?;
        Ok(paging::reply(&found, page, |each| {
            AuditEntryShape::from(each)
        }))
    }
}

/// A text that a row may hold. Databases cannot look for every character.
fn text(text: &str) -> Result<String, TextError> {
    let found = text.chars().count();
    if found > MAX_TEXT_CHARS {
        let max = MAX_TEXT_CHARS;
        return Err(TextError::TooLong { max, found });
    }
    if text.chars().any(char::is_control) {
        return Err(TextError::ControlCharacter);
    }
    Ok(text.to_owned())
}

fn parse(query: &Query) -> Result<(AuditFilter, PageRequest), Vec<Problem>> {
    let mut problems = Problems::default();
    let filter = AuditFilter {
        operator: query.one("operator", OperatorName::parse, &mut problems),
        action: query.one("action", text, &mut problems),
        record: query.one("record", text, &mut problems),
        company: query.one("companyId", CompanyId::parse, &mut problems),
        from: query.one("from", Timestamp::parse, &mut problems),
        until: query.one("until", Timestamp::parse, &mut problems),
    };
    let page = list_query::page(query, &mut problems);
    problems.unless_any(Some((filter, page)))
}
