//! Reads a request's body, bounded in size and time, and only in accepted formats.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use preauth_core::ErrorCode;
use salvo::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use salvo::http::{ReqBody, Request};
use tokio::time::Instant;

use super::error::ApiError;
use super::json::Json;

/// Maximum size of a JSON body.
pub(super) const JSON_LIMIT_BYTES: usize = 256 * 1024;
/// Maximum time for the whole body.
const TOTAL_DEADLINE: Duration = Duration::from_mins(1);
/// Minimum number of bytes in each [`PACE_WINDOW`]: 8 KiB a second.
const MIN_WINDOW_BYTES: u64 = 160 * 1024;
const PACE_WINDOW: Duration = Duration::from_secs(20);

/// The message for another content type.
const NEEDS_JSON: &str = "Content-Type deve ser application/json, em UTF-8.";

/// Reads a JSON body.
pub(super) async fn json(req: &mut Request) -> Result<Json, ApiError> {
    json_or(req, NEEDS_JSON).await
}

/// Reads a JSON body. `otherwise` is the message for another content type.
pub(super) async fn json_or(req: &mut Request, otherwise: &str) -> Result<Json, ApiError> {
    if !is_json(&content_type(req)) {
        return Err(ApiError::new(ErrorCode::BadRequest).message(otherwise));
    }
    let bytes = read(req).await?;
    Ok(Json::parse(&bytes)?)
}

/// Reads the text of a JSON body of at most `limit` bytes.
pub(super) async fn json_text(req: &mut Request, limit: usize) -> Result<Vec<u8>, ApiError> {
    if !is_json(&content_type(req)) {
        return Err(ApiError::new(ErrorCode::BadRequest).message(NEEDS_JSON));
    }
    read_within(req, limit).await
}

/// Reads a JSON body that may be absent. Many programs name its type although they send none.
pub(super) async fn optional_json(req: &mut Request) -> Result<Json, ApiError> {
    let is_json = header(req, CONTENT_TYPE.as_str()).map(|it| is_json(&it));
    if is_json != Some(false) {
        let bytes = read(req).await?;
        if bytes.is_empty() {
            return Ok(Json::Object(Vec::new()));
        }
        if is_json == Some(true) {
            return Ok(Json::parse(&bytes)?);
        }
    }
    Err(ApiError::new(ErrorCode::BadRequest).message(NEEDS_JSON))
}

/// The `Content-Type` as sent; empty when there is none.
pub(super) fn content_type(req: &Request) -> String {
    header(req, CONTENT_TYPE.as_str()).unwrap_or_default()
}

/// Refuses a compressed body.
pub(super) fn check_encoding(req: &Request) -> Result<(), ApiError> {
    let encoding = header(req, CONTENT_ENCODING.as_str());
    if encoding.is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
        return Err(ApiError::new(ErrorCode::BadRequest)
            .message("O corpo não pode ser comprimido (Content-Encoding)."));
    }
    Ok(())
}

/// Limits the reading of a whole body to [`TOTAL_DEADLINE`].
pub(super) async fn in_time<T>(
    reading: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    tokio::time::timeout(TOTAL_DEADLINE, reading)
        .await
        .unwrap_or_else(|_| Err(ApiError::new(ErrorCode::RequestTimeout)))
}

/// Reads a body piece by piece and refuses one that arrives too slowly. Only the time spent waiting
/// for the body counts.
pub(super) struct BodyReader<'a> {
    body: &'a mut ReqBody,
    waited: Duration,
    missing: u64,
}

impl<'a> BodyReader<'a> {
    pub(super) fn new(req: &'a mut Request) -> Self {
        Self {
            body: req.body_mut(),
            waited: Duration::ZERO,
            missing: MIN_WINDOW_BYTES,
        }
    }

    /// The next piece; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            let begin = Instant::now();
            let patience = PACE_WINDOW.saturating_sub(self.waited);
            let frame = tokio::time::timeout(patience, self.body.next()).await;
            self.waited = self.waited.saturating_add(begin.elapsed());
            match frame {
                Ok(None) => return Ok(None),
                Ok(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        let length = u64::try_from(data.len()).unwrap_or(u64::MAX);
                        self.missing = self.missing.saturating_sub(length);
                        return Ok(Some(data));
                    }
                }
                Ok(Some(Err(_))) => {
                    let interrupted = "O corpo foi interrompido.";
                    return Err(ApiError::new(ErrorCode::BadRequest).message(interrupted));
                }
                Err(_) if self.missing > 0 => return Err(ApiError::new(ErrorCode::RequestTimeout)),
                Err(_) => {
                    self.waited = Duration::ZERO;
                    self.missing = MIN_WINDOW_BYTES;
                }
            }
        }
    }
}

/// Reads a whole body of at most 256 KiB.
pub(super) async fn read(req: &mut Request) -> Result<Vec<u8>, ApiError> {
    read_within(req, JSON_LIMIT_BYTES).await
}

async fn read_within(req: &mut Request, limit: usize) -> Result<Vec<u8>, ApiError> {
    check_encoding(req)?;
    in_time(collect(req, limit)).await
}

/// Reads within the limit and leaves the rest unread.
async fn collect(req: &mut Request, limit: usize) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    let mut body = BodyReader::new(req);
    while let Some(data) = body.next().await? {
        if bytes.len().saturating_add(data.len()) > limit {
            return Err(ApiError::new(ErrorCode::PayloadTooLarge));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// `application/json`, with no parameter but `charset=utf-8`.
fn is_json(media_type: &str) -> bool {
    let mut parts = media_type.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    essence.eq_ignore_ascii_case("application/json")
        && parts.all(|parameter| {
            let parameter = parameter.to_ascii_lowercase();
            parameter.is_empty()
                || matches!(parameter.as_str(), "charset=utf-8" | "charset=\"utf-8\"")
        })
}

fn header(req: &Request, name: &str) -> Option<String> {
    req.headers()
        .get(name)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::is_json;

    #[test]
    fn json_is_utf8_and_nothing_else() {
        for accepted in [
            "application/json",
            "Application/JSON; charset=UTF-8",
            "application/json;",
        ] {
            assert!(is_json(accepted), "{accepted}");
        }
        for refused in [
            "",
            "text/json",
            "application/vnd.api+json",
            "application/json; charset=iso-8859-1",
        ] {
            assert!(!is_json(refused), "{refused}");
        }
    }
}
