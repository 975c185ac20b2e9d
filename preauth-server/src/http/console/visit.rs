//! A request of an operator who has signed in, and the calls of the platform API that answer it.

use std::sync::Arc;

use preauth_core::ErrorCode;
use preauth_core::value::RequestId;
use salvo::http::{Method, Request};
use serde::de::DeserializeOwned;

use crate::http::client_address::ClientAddress;
use crate::http::error::ApiError;
use crate::http::pages::form::Form;
use crate::http::pages::words::Words;
use crate::http::platform::{Call, OnBehalf};
use crate::http::reply::Reply;

use super::Console;
use super::failure::Failure;
use super::frame::{Frame, Section};
use super::session::Signed;

/// Maximum length of an id in a path.
const MAX_ID_CHARS: usize = 36;

/// A request of an operator who has signed in.
pub(super) struct Visit {
    pub(super) console: Arc<Console>,
    pub(super) signed: Signed,
    pub(super) words: Words,
    /// Path and query as sent.
    pub(super) here: String,
    pub(super) query: Form,
    ids: Vec<(String, String)>,
    behalf: OnBehalf,
}

/// The answer of the platform API.
pub(super) struct Answer {
    pub(super) body: String,
}

impl Visit {
    pub(super) fn new(
        console: &Arc<Console>,
        signed: Signed,
        words: Words,
        req: &Request,
    ) -> Result<Self, ApiError> {
        let request = req.extensions().get::<RequestId>().copied();
        let behalf = OnBehalf {
            operator: signed.operator.clone(),
            request: request.ok_or_else(|| ApiError::internal("a request without an id"))?,
            client: ClientAddress::of_request(req),
        };
        let query = req.uri().query().unwrap_or_default();
        let ids = req.params().iter();
        Ok(Self {
            console: Arc::clone(console),
            signed,
            words,
            here: here(req),
            query: Form::parse(query.as_bytes()).unwrap_or_default(),
            ids: ids.map(|(name, id)| (name.clone(), id.clone())).collect(),
            behalf,
        })
    }

    /// What surrounds a page of this section.
    pub(super) fn frame(&self, section: Section) -> Frame {
        let operator = &self.signed.operator;
        Frame {
            operator: Some((operator.name.as_str().to_owned(), operator.role)),
            form_token: self.signed.secret.form_token(),
            section,
            is_sandbox: self.console.api.time_machine.is_some(),
            ..Frame::open(self.words, &self.here)
        }
    }

    /// What surrounds a page in no section, whose reader may try again at this path.
    pub(super) fn frame_at(&self, here: String) -> Frame {
        let frame = self.frame(Section::None);
        Frame { here, ..frame }
    }

    /// An id in the path of the page, which may stand in a path of the API.
    pub(super) fn id(&self, name: &str) -> Result<&str, Failure> {
        let found = self.ids.iter().find(|(each, _)| each == name);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        found
            .map(|(_, id)| id.as_str())
            .filter(|id| (1..=MAX_ID_CHARS).contains(&id.len()) && id.bytes().all(is_plain))
            .ok_or_else(|| ApiError::new(ErrorCode::ResourceNotFound).into())
    }

    /// Reads a record or a list.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: impl Into<String>,
    ) -> Result<T, Failure> {
        let answer = self.send(Method::GET, path.into(), None, None).await?;
        answer.parse()
    }

    /// Sends a request that may change something.
    pub(super) async fn send(
        &self,
        method: Method,
        path: String,
        body: Option<String>,
        idempotency_key: Option<String>,
    ) -> Result<Answer, Failure> {
        Answer::of(&self.raw(method, path, body, idempotency_key).await?)
    }

    /// Sends one of several requests of the same form, each under an id of its own: the audit log has a row for
    /// each id.
    pub(super) async fn send_one_of_several(
        &self,
        method: Method,
        path: String,
    ) -> Result<Answer, Failure> {
        let api = &self.console.api;
        let behalf = OnBehalf {
            request: RequestId::new(api.ids.uuid(api.clock.now())),
            ..self.behalf.clone()
        };
        let call = Call {
            method,
            path,
            body: None,
            idempotency_key: None,
        };
        Answer::of(&self.console.platform.send(call, &behalf).await?)
    }

    /// The answer as the API gives it.
    pub(super) async fn raw(
        &self,
        method: Method,
        path: String,
        body: Option<String>,
        idempotency_key: Option<String>,
    ) -> Result<Reply, Failure> {
        let call = Call {
            method,
            path,
            body,
            idempotency_key,
        };
        Ok(self.console.platform.send(call, &self.behalf).await?)
    }

    /// Refuses what the operator's role does not permit.
    pub(super) fn require(&self, method: &Method, path: &str) -> Result<(), ApiError> {
        if self.permits(method, path) {
            return Ok(());
        }
        Err(ApiError::new(ErrorCode::OperatorForbidden))
    }

    /// Whether the operator's role permits what a route of the API does.
    pub(super) fn permits(&self, method: &Method, path: &str) -> bool {
        let role = self.signed.operator.role;
        self.console.platform.permits(role, method, path)
    }
}

impl Answer {
    fn of(reply: &Reply) -> Result<Self, Failure> {
        let body = reply.body_text().map(ToOwned::to_owned);
        let body = body.ok_or_else(|| ApiError::internal("an answer that is no text"))?;
        Ok(Self { body })
    }

    pub(super) fn parse<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        Ok(serde_json::from_str(&self.body).map_err(ApiError::internal)?)
    }
}

/// Path and query of a request.
pub(super) fn here(req: &Request) -> String {
    let uri = req.uri();
    let path = uri.path_and_query().map(ToString::to_string);
    path.unwrap_or_else(|| uri.path().to_owned())
}
