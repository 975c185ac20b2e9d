//! Reads a request's body: bounded in size and in time, and only in the form that is understood.

use std::time::Duration;

use futures_util::StreamExt;
use preauth_core::ErrorCode;
use salvo::http::Request;
use salvo::http::header::{CONTENT_ENCODING, CONTENT_TYPE};

use super::error::ApiError;
use super::json::Json;

/// A JSON body may have so many bytes.
const JSON_LIMIT_BYTES: usize = 256 * 1024;
/// The whole body must arrive within this time, however steadily it trickles.
const TOTAL_DEADLINE: Duration = Duration::from_mins(1);

/// Reads a JSON body.
pub(super) async fn json(req: &mut Request) -> Result<Json, ApiError> {
    json_or(req, "Content-Type deve ser application/json, em UTF-8.").await
}

/// Reads a JSON body where something else is taken as well, which `otherwise` tells.
pub(super) async fn json_or(req: &mut Request, otherwise: &str) -> Result<Json, ApiError> {
    if !is_json(&content_type(req)) {
        return Err(ApiError::new(ErrorCode::BadRequest).message(otherwise));
    }
    let bytes = read(req).await?;
    Ok(Json::parse(&bytes)?)
}

/// Reads a JSON body that may be left out altogether.
pub(super) async fn optional_json(req: &mut Request) -> Result<Json, ApiError> {
    if header(req, CONTENT_TYPE.as_str()).is_some() {
        return json(req).await;
    }
    if read(req).await?.is_empty() {
        return Ok(Json::Object(Vec::new()));
    }
    Err(ApiError::new(ErrorCode::BadRequest)
        .message("Content-Type deve ser application/json, em UTF-8."))
}

/// The `Content-Type` as sent; empty when there is none.
pub(super) fn content_type(req: &Request) -> String {
    header(req, CONTENT_TYPE.as_str()).unwrap_or_default()
}

/// Refuses a compressed body.
pub(super) fn judge_encoding(req: &Request) -> Result<(), ApiError> {
    let encoding = header(req, CONTENT_ENCODING.as_str());
    if encoding.is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
        return Err(ApiError::new(ErrorCode::BadRequest)
            .message("O corpo não pode ser comprimido (Content-Encoding)."));
    }
    Ok(())
}

/// Whatever reads a body has a minute for all of it.
pub(super) async fn in_time<T>(
    reading: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    tokio::time::timeout(TOTAL_DEADLINE, reading)
        .await
        .unwrap_or_else(|_| Err(ApiError::new(ErrorCode::RequestTimeout)))
}

async fn read(req: &mut Request) -> Result<Vec<u8>, ApiError> {
    judge_encoding(req)?;
    in_time(collect(req)).await
}

/// Reads within the limit; what is over it stays where it is.
async fn collect(req: &mut Request) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    while let Some(frame) = req.body_mut().next().await {
        let broken = |_| ApiError::new(ErrorCode::BadRequest).message("O corpo foi interrompido.");
        let Ok(data) = frame.map_err(broken)?.into_data() else {
            continue;
        };
        if bytes.len().saturating_add(data.len()) > JSON_LIMIT_BYTES {
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
