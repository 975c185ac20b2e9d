//! The Authorization header, read as RFC 9110 and RFC 6750 write it.

use salvo::http::Request;
use salvo::http::header::AUTHORIZATION;

/// The token of the one `Bearer` credential; `None` when it is missing, repeated or of another
/// scheme.
#[must_use]
pub(super) fn bearer(req: &Request) -> Option<String> {
    let mut headers = req.headers().get_all(AUTHORIZATION).iter();
    let only = headers.next()?;
    if headers.next().is_some() {
        return None;
    }
    let (scheme, token) = only.to_str().ok()?.trim().split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| token.trim_start_matches(' ').to_owned())
}
