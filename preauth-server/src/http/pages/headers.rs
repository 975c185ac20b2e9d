//! The headers of pages: what a browser may load and send, and what it must not keep.

use salvo::http::StatusCode;

use crate::http::reply::Reply;

/// Nothing from elsewhere, nothing written into the page itself, no frames, forms to this server only.
pub(in crate::http) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Whether requests that a page causes name it as their origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Referrer {
    /// To this server only; forms then name their origin.
    SameOrigin,
    /// Never, because the page's address is a secret; forms then have the origin `null`.
    #[allow(dead_code, reason = "no page of the console has such an address")]
    Never,
}

/// A page.
pub(in crate::http) fn page(status: StatusCode, html: String, referrer: Referrer) -> Reply {
    let referrer = match referrer {
        Referrer::SameOrigin => "same-origin",
        Referrer::Never => "no-referrer",
    };
    harmless(Reply::text(status, "text/html; charset=utf-8", html))
        .header("cache-control", "no-store")
        .header("referrer-policy", referrer)
        .header("x-frame-options", "DENY")
        .header("cross-origin-opener-policy", "same-origin")
        .header("permissions-policy", "clipboard-write=(self)")
}

/// The answer to a form: another page.
pub(in crate::http) fn see_other(location: &str) -> Reply {
    harmless(Reply::empty(StatusCode::SEE_OTHER))
        .header("location", location)
        .header("cache-control", "no-store")
}

/// The headers of every answer to a browser.
pub(in crate::http) fn harmless(reply: Reply) -> Reply {
    reply
        .header("content-security-policy", POLICY)
        .header("x-content-type-options", "nosniff")
        .header("cross-origin-resource-policy", "same-origin")
}
