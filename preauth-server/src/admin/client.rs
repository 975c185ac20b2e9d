//! The HTTP client of the platform API; nothing else calls it.

use std::time::Duration;

use preauth_core::value::OperationId;
use preauth_core::wire::{ErrorBody, header};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::redirect::Policy;
use reqwest::{Response, StatusCode};
use serde::de::DeserializeOwned;
use tokio::sync::OnceCell;

use super::Failure;
use super::call::Call;
use super::failure::{Refusal, UnknownReason};
use super::handshake;
use super::place::Place;
use crate::secret::OperatorToken;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Longer than the server's own limit for any request.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(90);
/// A page of 100 deliveries with all their attempts and bodies stays far below this.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// The code of a request whose key is in use by an earlier one that is still being processed.
const IN_PROGRESS: &str = "IDEMPOTENCY_IN_PROGRESS";

/// Calls one platform with one token.
#[derive(Debug)]
pub(super) struct Client {
    http: reqwest::Client,
    place: Place,
    /// The bearer token, once the server has proven itself.
    bearer: OnceCell<OperatorToken>,
}

/// A success.
#[derive(Debug)]
pub(super) struct Answer {
    /// The body as received; empty where there is none.
    pub(super) text: String,
}

impl Client {
    /// A client without proxies and redirects: no proxy of the environment sees the token, and no
    /// redirect carries it elsewhere.
    pub(super) fn new(place: Place) -> Result<Self, Failure> {
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(ANSWER_TIMEOUT)
            .build();
        let http = http.map_err(Failure::NoClient)?;
        Ok(Self {
            http,
            place,
            bearer: OnceCell::new(),
        })
    }

    /// Sends a request and returns its outcome. A request with a key is sent a second time when the
    /// answer to the first was lost; it takes effect once.
    pub(super) async fn send(&self, call: &Call) -> Result<Answer, Failure> {
        let lost = match self.send_once(call).await {
            Err(lost @ Failure::Unknown { .. }) if call.key.is_some() => lost,
            outcome => return outcome,
        };
        match self.send_once(call).await {
            Ok(answer) => Ok(answer),
            Err(Failure::Refused(refusal)) if refusal.code != IN_PROGRESS => {
                Err(Failure::Refused(refusal))
            }
            // The second failure does not show whether the first request was processed.
            Err(_) => Err(lost),
        }
    }

    async fn send_once(&self, call: &Call) -> Result<Answer, Failure> {
        let (head, body) = self.exchange(call).await?;
        let text = body.and_then(|body| String::from_utf8(body).ok());
        self.decode(call, &head, text)
    }

    /// Sends a request whose answer is the bytes of a file.
    pub(super) async fn download(&self, call: &Call) -> Result<Vec<u8>, Failure> {
        let (head, body) = self.exchange(call).await?;
        match body {
            Some(file) if head.status == StatusCode::OK => Ok(file),
            refusal => {
                let text = refusal.and_then(|body| String::from_utf8(body).ok());
                let answer = self.decode(call, &head, text)?;
                Ok(answer.text.into_bytes())
            }
        }
    }

    /// The answer, up to the size limit.
    async fn exchange(&self, call: &Call) -> Result<(Head, Option<Vec<u8>>), Failure> {
        let mut url = self.place.url.join(&call.path);
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        let proven = || handshake::run(&self.http, &self.place);
        let bearer = self.bearer.get_or_try_init(proven).await?;
        let mut request = self
            .http
            .request(call.method.clone(), url)
            .bearer_auth(bearer.expose());
        if let Some(body) = &call.body {
            request = request
                .header(CONTENT_TYPE, "application/json")
                .body(body.to_string());
        }
        if let Some(key) = &call.key {
            request = request.header(header::IDEMPOTENCY_KEY, key);
        }
        let response = request.send().await;
        let response = response.map_err(|error| self.broken(call, error))?;
        let head = Head::of(&response);
        let body = read(response).await;
        let body = body.map_err(|error| self.broken(call, error))?;
        Ok((head, body))
    }

    fn broken(&self, call: &Call, error: reqwest::Error) -> Failure {
        // The message shows the URL separately, and its path means nothing to an operator.
        let was_sent = !error.is_connect() && !error.is_builder();
        let cause = error.without_url();
        if was_sent && !call.only_reads() {
            return unknown(call, UnknownReason::Connection(cause));
        }
        Failure::Unreachable {
            url: self.place.url.as_str().to_owned(),
            cause,
        }
    }

    fn decode(&self, call: &Call, head: &Head, text: Option<String>) -> Result<Answer, Failure> {
        let url = || self.place.url.as_str().to_owned();
        if head.status == StatusCode::UNAUTHORIZED {
            return Err(Failure::TokenRefused {
                url: url(),
                source_name: self.place.token_source.clone(),
            });
        }
        let status = head.status.as_u16();
        let foreign = || Failure::Stranger { url: url(), status };
        let text = text.ok_or_else(foreign)?;
        if head.status.is_success() {
            let is_answer = head.status == StatusCode::NO_CONTENT || head.is_json;
            return is_answer.then_some(Answer { text }).ok_or_else(foreign);
        }
        let refusal = refusal(head, &text);
        Err(match (refusal, head.status) {
            (Some(it), StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) => {
                Failure::Unavailable(it)
            }
            (Some(it), status) if status.is_server_error() && !call.only_reads() => {
                unknown(call, UnknownReason::Server(Box::new(it)))
            }
            (Some(it), status) if status.is_server_error() => Failure::Unavailable(it),
            (Some(it), _) => Failure::Refused(it),
            (None, _) => foreign(),
        })
    }
}

impl Answer {
    /// The body, parsed as `T`.
    pub(super) fn parse<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_str(&self.text).map_err(Failure::NotUnderstood)
    }
}

fn unknown(call: &Call, cause: UnknownReason) -> Failure {
    Failure::Unknown {
        key: call.key.clone(),
        cause,
    }
}

struct Head {
    status: StatusCode,
    is_json: bool,
    request_id: Option<String>,
}

impl Head {
    fn of(response: &Response) -> Self {
        let headers = response.headers();
        Self {
            status: response.status(),
            is_json: text(headers, "content-type")
                .is_some_and(|kind| kind.starts_with("application/json")),
            request_id: text(headers, "x-request-id"),
        }
    }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?;
    Some(value.to_owned())
}

/// Reads the body up to the size limit; `None` when it is larger.
async fn read(mut response: Response) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if chunk.len() > MAX_ANSWER_BYTES.saturating_sub(body.len()) {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// The API's own message; `None` when the answer is not the API's.
fn refusal(head: &Head, text: &str) -> Option<Refusal> {
    let body: ErrorBody = serde_json::from_str(text).ok()?;
    let code = body.code()?.to_string();
    let details = body.details.unwrap_or_default();
    let field = |index: usize| details.get(index).and_then(|detail| detail.field.clone());
    let existing = details.first().and_then(|detail| detail.anticipation_id);
    let errors = body.errors.into_iter().enumerate();
    Some(Refusal {
        status: head.status.as_u16(),
        code,
        sentences: errors
            .map(|(index, error)| (field(index), error.message))
            .collect(),
        existing: existing.map(OperationId::get),
        request_id: head.request_id.clone(),
        next: None,
    })
}
