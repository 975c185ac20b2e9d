//! `/companies/{id}/notices` and `/notices/{id}`: the stored mails, their attempts, and their
//! resending.

use preauth_core::ErrorCode;
use preauth_core::port::{MailKind, PageRequest};
use preauth_core::value::{CompanyId, MailId, OperationId, Timestamp};
use preauth_core::wire::Open;
use salvo::async_trait;
use salvo::http::Request;

use crate::directory::{Mail, MailFilter, MailStatus};
use crate::http::error::ApiError;
use crate::http::fields::{Problems, one_of};
use crate::http::openapi::described::Described;
use crate::http::openapi::document::Parameter;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::answer;
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::http::reply::Reply;
use crate::http::{list_query, path_id};

use super::endpoint::{Endpoint, existing, ok};
use super::sections::{HEAD_OFFICE, MAILS};
use super::{PlatformApi, Refusal, lookup, paging};

const MAIL: &str = "The mail's id.";

answer! {
    /// A mail to a supplier, or to a company's users.
    #[derive(Debug)]
    pub(crate) struct MailShape = "Notice" {
        /// The mail's id, and its Message-ID.
        id: MailId,
        /// The head office that it was written for.
        company_id: CompanyId,
        /// The kind of mail.
        kind: Open<MailKind> = "OFFER",
        /// The operation that it is about.
        operation_id: Option<OperationId> = 42,
        /// Where it goes.
        recipient: String = "financeiro@fornecedor.com.br",
        /// Status. HELD: its address has reached the limit of the day. CANCELED: its offer was closed before it
        /// was sent. SUPPRESSED: the reader of its address wants no mails.
        status: Open<MailStatus> = "SENT",
        /// When it was staged.
        created_at: Timestamp,
        /// When it is tried next.
        next_attempt_at: Option<Timestamp>,
        /// When it was sent, given up or canceled.
        ended_at: Option<Timestamp> = "2026-11-21T12:00:00.000Z",
        /// Attempts made so far.
        attempts: u32 => |it| it.at_least(0),
        /// Why the last attempt failed.
        last_error: Option<String>,
        /// The mail in which it was or will be sent, together with others to its address. That one is
        /// sent again for all of them.
        joined_to: Option<MailId>,
    }
}

impl From<&Mail> for MailShape {
    fn from(mail: &Mail) -> Self {
        Self {
            id: mail.id,
            company_id: mail.company,
            kind: mail.kind.into(),
            operation_id: mail.operation,
            recipient: mail.recipient.to_string(),
            status: mail.status.into(),
            created_at: mail.created_at,
            next_attempt_at: mail.next_attempt_at,
            ended_at: mail.ended_at,
            attempts: mail.attempts_made,
            last_error: mail.last_error.clone(),
            joined_to: mail.joined_to,
        }
    }
}

/// The mails of a head office, newest first.
#[derive(Clone, Copy)]
pub(super) struct List;

#[async_trait]
impl Endpoint for List {
    fn document(&self, operation: Described) -> Described {
        let operation = operation
            .titled(MAILS, "listNotices", "List mails")
            .id(HEAD_OFFICE)
            .paged();
        filters(operation)
            .answers(200, "Newest first.", Schema::list_of::<MailShape>())
            .refuses(&[ErrorCode::ResourceConflict])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let (filter, page) = parse(&Query::parse(req.uri().query()))?;
        let company = lookup::head_office(api, req).await?;
        let found = api.directory.mails(Some(company), filter, page).await?;
        Ok(paging::reply(&found, page, |each| MailShape::from(each)))
    }
}

/// Everybody's mails, newest first.
#[derive(Clone, Copy)]
pub(super) struct ListAll;

#[async_trait]
impl Endpoint for ListAll {
    fn document(&self, operation: Described) -> Described {
        let operation = operation
            .titled(MAILS, "listAllNotices", "List everybody's mails")
            .note(paging::NEWEST_ONLY)
            .paged();
        filters(operation).answers(200, "Newest first.", Schema::list_of::<MailShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let (filter, page) = parse(&Query::parse(req.uri().query()))?;
        let found = api.directory.mails(None, filter, page).await?;
        Ok(paging::reply(&found, page, |each| MailShape::from(each)))
    }
}

/// The parameters of both lists.
fn filters(operation: Described) -> Described {
    let status = Schema::one_of("Only these.", MailStatus::ALL, MailStatus::Held);
    let kind = Schema::one_of("Only these.", MailKind::ALL, MailKind::Invitation);
    let about = Schema::integer("Only those about this operation.", 42).at_least(1);
    operation
        .parameter(Parameter::query("status", status))
        .parameter(Parameter::query("kind", kind))
        .parameter(Parameter::query("operationId", about))
}

fn parse(query: &Query) -> Result<(MailFilter, PageRequest), Vec<Problem>> {
    let mut problems = Problems::default();
    let filter = MailFilter {
        status: query.one("status", one_of(MailStatus::ALL), &mut problems),
        kind: query.one("kind", one_of(MailKind::ALL), &mut problems),
        operation: query.one("operationId", list_query::operation_id, &mut problems),
    };
    let page = list_query::page(query, &mut problems);
    problems.unless_any(Some((filter, page)))
}

#[derive(Clone, Copy)]
pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(MAILS, "getNotice", "Get a mail")
            .id(MAIL)
            .answers(200, "The mail.", Schema::of::<MailShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        reply(api, path_id::record(req, MailId::parse)?).await
    }
}

/// A mail that failed or was suppressed is due again now, with a fresh schedule.
#[derive(Clone, Copy)]
pub(super) struct Resend;

#[async_trait]
impl Endpoint for Resend {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(MAILS, "resendNotice", "Send a mail again")
            .id(MAIL)
            .note("Due at once, with a fresh schedule. One that stands otherwise than FAILED or SUPPRESSED is a conflict; one whose offer was closed is CANCELED when its turn comes, and one to an address that is still suppressed is SUPPRESSED again.")
            .answers(200, "The mail, pending again.", Schema::of::<MailShape>())
            .refuses(&[ErrorCode::ResourceConflict])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::record(req, MailId::parse)?;
        let resent = api.directory.resend_mail(id, api.clock.now()).await;
        resent.map_err(Refusal::MailNotResendable.on_conflict())?;
        reply(api, id).await
    }
}

/// The answer with the current state of one mail.
async fn reply(api: &PlatformApi, id: MailId) -> Result<Reply, ApiError> {
    let found = api.directory.mail(id).await?;
    let mail = existing(found)?;
    Ok(ok(&MailShape::from(&mail)))
}

#[cfg(test)]
mod tests {
    use super::{MailFilter, MailKind, MailStatus, OperationId, PageRequest, Query, parse};

    #[test]
    fn a_list_is_filtered_by_status_kind_and_operation() {
        let query = "status=HELD&kind=INVITATION&operationId=12&page=2&limit=5";
        let filter = MailFilter {
            status: Some(MailStatus::Held),
            kind: Some(MailKind::Invitation),
            operation: OperationId::new(12),
        };
        let page = PageRequest { page: 2, limit: 5 };
        assert_eq!(parse(&Query::parse(Some(query))), Ok((filter, page)));
    }

    #[test]
    fn every_problem_of_the_query_is_reported() {
        let query = "status=held&kind=SPAM&operationId=NF-1&limit=0";
        let found = parse(&Query::parse(Some(query))).unwrap_err();
        let fields: Vec<_> = found.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(fields, ["status", "kind", "operationId", "limit"]);
    }
}
