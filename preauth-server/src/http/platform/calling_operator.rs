//! Who calls: attached to each request by the gate. `GET /calling-operator` shows it.

use std::sync::Arc;

use preauth_core::access::OperatorRole;
use preauth_core::port::ActingOperator;
use preauth_core::service::Operations;
use preauth_core::value::{OperatorId, OperatorName, RequestId, Timestamp};
use preauth_core::wire::Open;
use salvo::async_trait;
use salvo::http::Request;
use tokio::time::Instant;

use crate::audit_trail::AuditedRequest;
use crate::directory::Operator;
use crate::http::client_address::ClientAddress;
use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::{Text, answer};
use crate::http::reply::Reply;

use super::PlatformApi;
use super::endpoint::{Endpoint, ok};
use super::sections::OPERATORS;

/// The operator whose token a request presented.
#[derive(Clone, Debug)]
pub(in crate::http) struct CallingOperator {
    /// The operator's id; the holder of the configured token has none.
    pub(super) id: Option<OperatorId>,
    pub(in crate::http) name: OperatorName,
    pub(in crate::http) role: OperatorRole,
    pub(super) valid_until: Option<Timestamp>,
    /// When the token was looked up.
    pub(super) admitted_at: Instant,
}

impl CallingOperator {
    /// The holder of the configured token.
    pub(super) fn root() -> Self {
        Self {
            id: None,
            name: OperatorName::root(),
            role: OperatorRole::Admin,
            valid_until: None,
            admitted_at: Instant::now(),
        }
    }

    /// The operator's id; `root` has none.
    pub(in crate::http) const fn id(&self) -> Option<OperatorId> {
        self.id
    }

    /// The operator who sent this request.
    pub(super) fn of(req: &Request) -> Result<Self, ApiError> {
        let found = req.extensions().get::<Self>().cloned();
        found.ok_or_else(|| ApiError::internal("a request without an operator"))
    }

    /// The use cases in the hands of the operator who sent this request.
    pub(super) fn operations(api: &PlatformApi, req: &Request) -> Result<Operations, ApiError> {
        let operations = api.operations.in_hands_of(Self::of(req)?.acting(req)?);
        Ok(match req.extensions().get::<Arc<AuditedRequest>>() {
            Some(request) => operations.audited_as(request.audited.clone()),
            None => operations,
        })
    }

    /// The operator with the request.
    pub(super) fn acting(&self, req: &Request) -> Result<ActingOperator, ApiError> {
        let request = req.extensions().get::<RequestId>().copied();
        Ok(ActingOperator {
            id: self.id,
            name: self.name.clone(),
            request: request.ok_or_else(|| ApiError::internal("a request without an id"))?,
            address: ClientAddress::of_request(req).ip(),
        })
    }

    /// Attaches the operator to the request.
    pub(super) fn attach(self, req: &mut Request) {
        req.extensions_mut().insert(self);
    }
}

impl From<Operator> for CallingOperator {
    fn from(operator: Operator) -> Self {
        Self {
            id: Some(operator.id),
            name: operator.name,
            role: operator.role,
            valid_until: operator.valid_until,
            admitted_at: Instant::now(),
        }
    }
}

answer! {
    /// Whose token the request presented.
    #[derive(Debug)]
    pub(crate) struct CallingOperatorShape = "CallingOperator" {
        /// The operator's id; null for `root`, the holder of the configured token.
        id: Option<OperatorId>,
        /// The operator's name.
        name: Text<OperatorName>,
        /// The role, which decides which requests are allowed.
        role: Open<OperatorRole>,
        /// From when on the token is refused; null without an end.
        valid_until: Option<Timestamp>,
    }
}

#[derive(Clone, Copy)]
pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(OPERATORS, "getCallingOperator", "Get whose token this is")
            .answers(200, "The operator.", Schema::of::<CallingOperatorShape>())
    }

    async fn answer(&self, _api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let calling = CallingOperator::of(req)?;
        Ok(ok(&CallingOperatorShape {
            id: calling.id,
            name: (&calling.name).into(),
            role: calling.role.into(),
            valid_until: calling.valid_until,
        }))
    }
}
