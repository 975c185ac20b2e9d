//! `/operators`: who may call this API, with tokens of their own.

use preauth_core::ErrorCode;
use preauth_core::access::{KeyState, OperatorRole};
use preauth_core::service::PlatformKey;
use preauth_core::value::{FingerprintBuilder, OperatorId, OperatorName, Timestamp};
use preauth_core::wire::Open;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};
use secrecy::ExposeSecret;

use crate::access::NewOperatorToken;
use crate::audit_trail;
use crate::directory::Operator;
use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::headers;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::{Text, answer, request};
use crate::http::problem::Defect;
use crate::http::reply::Reply;
use crate::http::{convert, path_id};

use super::calling_operator::CallingOperator;
use super::create::Create;
use super::endpoint::{Endpoint, existing, ok};
use super::sections::OPERATORS;
use super::{PlatformApi, paging};

const OPERATOR: &str = "The operator's id.";

answer! {
    /// An operator, as it can be shown.
    #[derive(Clone, Debug)]
    pub(crate) struct OperatorShape = "Operator" {
        /// The operator's id.
        id: OperatorId,
        /// The name that histories and the log show; never given to another one.
        name: Text<OperatorName>,
        /// The role, which decides which requests are allowed.
        role: Open<OperatorRole>,
        /// Whether the token is valid now.
        state: Open<KeyState>,
        /// When the operator was added.
        created_at: Timestamp,
        /// The name of the operator who added this one.
        created_by: Text<OperatorName>,
        /// From when on the token is refused; null without an end.
        valid_until: Option<Timestamp>,
        /// When the token was revoked.
        revoked_at: Option<Timestamp>,
        /// When the token was used last, to the minute.
        last_used_at: Option<Timestamp>,
    }
}

// No `Debug`: it has the clear text.
answer! {
    /// A new operator.
    pub(crate) struct NewOperatorShape = "NewOperator" {
        ..shown: OperatorShape,
        /// The clear text, shown once: absent when an Idempotency-Key repeats the answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        token: Option<String> =
            "preauth_op_fc1e46c2d43218c6640cc1cd1aca78cd26de8a550af2e4248153037f"
            => Schema::omitted_if_none,
    }
}

request! {
    /// Who is to be added.
    #[derive(Debug)]
    pub(crate) struct OperatorRequest = "OperatorRequest" {
        /// The name that histories and the log show. `root` is the holder of the configured token.
        name: OperatorName,
        /// The role, which decides which requests are allowed.
        role: Open<OperatorRole>,
        /// From when on the token is refused, later than now; without an end when absent.
        valid_until: Option<Timestamp>,
    }
}

impl OperatorShape {
    fn new(operator: &Operator, now: Timestamp) -> Self {
        Self {
            id: operator.id,
            name: (&operator.name).into(),
            role: operator.role.into(),
            state: operator.state(now).into(),
            created_at: operator.created_at,
            created_by: (&operator.created_by).into(),
            valid_until: operator.valid_until,
            revoked_at: operator.revoked_at,
            last_used_at: operator.last_used_at,
        }
    }
}

/// Newest first, revoked and expired ones included.
#[derive(Clone, Copy)]
pub(super) struct List;

#[async_trait]
impl Endpoint for List {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(OPERATORS, "listOperators", "List operators")
            .note("Without `root`, the holder of the configured token.")
            .paged()
            .answers(200, "Newest first.", Schema::list_of::<OperatorShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let page = paging::page(req)?;
        let found = api.directory.operators(page).await?;
        let now = api.clock.now();
        Ok(paging::reply(&found, page, |operator| {
            OperatorShape::new(operator, now)
        }))
    }
}

/// Adds an operator; the clear text of the token is in this answer and nowhere else.
#[derive(Clone, Copy)]
pub(super) struct Add;

#[async_trait]
impl Create for Add {
    type New = OperatorRequest;

    fn document(&self, operation: Described) -> Described {
        operation
            .titled(OPERATORS, "addOperator", "Add an operator")
            .note(
                "The clear text of the token is in the first answer and nowhere else. When that was lost, an answer that is repeated under \
                 the `Idempotency-Key` names the operator that was added: revoke it, and add another. A name is given once: that of a \
                 revoked operator, and `root`, are 409 `RESOURCE_CONFLICT`.",
            )
            .body("Who.", Schema::of::<OperatorRequest>())
            .answers(201, "Added.", Schema::of::<NewOperatorShape>())
            .header(headers::CACHE_CONTROL)
            .refuses(&[ErrorCode::ResourceConflict])
    }

    fn describe(&self, new: &OperatorRequest, parts: &mut FingerprintBuilder) {
        let OperatorRequest {
            name,
            role,
            valid_until,
        } = new;
        parts.text(Some(name.as_str()));
        parts.part(Some(role.as_str()));
        let valid_until = valid_until.map(|it| it.to_string());
        parts.part(valid_until.as_deref());
    }

    async fn create(
        &self,
        api: &PlatformApi,
        req: &Request,
        new: OperatorRequest,
        key: Option<&PlatformKey>,
    ) -> Result<Reply, ApiError> {
        let now = api.clock.now();
        let Open::Known(role) = new.role else {
            return Err(ApiError::internal("a role that was not parsed"));
        };
        if new.valid_until.is_some_and(|end| end <= now) {
            return Err(ApiError::problem("validUntil", Defect::NotInTheFuture));
        }
        if new.name.is_root() {
            return Err(ApiError::new(ErrorCode::ResourceConflict));
        }
        let token = NewOperatorToken::generate();
        let added = Operator {
            id: OperatorId::new(api.ids.uuid(now)),
            name: new.name,
            role,
            created_at: now,
            created_by: CallingOperator::of(req)?.name,
            valid_until: new.valid_until,
            revoked_at: None,
            last_used_at: None,
        };
        let mut shape = NewOperatorShape {
            shown: OperatorShape::new(&added, now),
            token: None,
        };
        // The stored reply lacks the clear text, which only the first answer has.
        let reply = key.map(|key| key.reply(convert::text(&shape)));
        audit_trail::creating("operators", added.id);
        let stored = api
            .directory
            .add_operator(&added, &token.hash, reply.as_ref());
        stored.await?;
        tracing::info!(target: "operator", operator = %added.id, role = %added.role, "added");
        shape.token = Some(token.clear_text.expose_secret().to_owned());
        let reply = Reply::json(StatusCode::CREATED, convert::text(&shape));
        Ok(reply.header("cache-control", "no-store"))
    }
}

#[derive(Clone, Copy)]
pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(OPERATORS, "getOperator", "Get an operator")
            .id(OPERATOR)
            .answers(200, "The operator.", Schema::of::<OperatorShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::record(req, OperatorId::parse)?;
        let found = api.directory.operator(id).await?;
        let operator = existing(found)?;
        Ok(ok(&OperatorShape::new(&operator, api.clock.now())))
    }
}

/// Revokes an operator's token for good; the operator stays in the list.
#[derive(Clone, Copy)]
pub(super) struct Revoke;

#[async_trait]
impl Endpoint for Revoke {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(OPERATORS, "revokeOperator", "Revoke an operator's token")
            .id(OPERATOR)
            .note(
                "It opens nothing from the next request on, on every instance. Operators may revoke themselves; the configured token \
                 stays.",
            )
            .answers(200, "Revoked.", Schema::of::<OperatorShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::record(req, OperatorId::parse)?;
        let now = api.clock.now();
        let operator = api.directory.revoke_operator(id, now).await?;
        tracing::info!(target: "operator", operator = %operator.id, "revoked");
        Ok(ok(&OperatorShape::new(&operator, now)))
    }
}
