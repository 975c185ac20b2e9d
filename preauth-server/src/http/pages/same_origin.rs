//! Whether a form was sent by a page of this server.
//!
//! Browsers say so in `Sec-Fetch-Site`, but only to servers with TLS or on their own machine, and in
//! `Origin`, which is `null` for pages that hide their address. A request with neither is refused.

use salvo::http::Request;
use salvo::http::header::{HOST, ORIGIN};
use salvo::http::uri::Authority;

const FETCH_SITE: &str = "sec-fetch-site";

/// Whether a browser sent this request for a page of this server.
pub(in crate::http) fn is_same_origin(req: &Request) -> bool {
    let text = |name: &str| {
        let mut values = req.headers().get_all(name).iter();
        let value = values.next().map(|it| it.to_str().unwrap_or_default());
        (value, values.next().is_none())
    };
    let ((site, one_site), (origin, one_origin)) = (text(FETCH_SITE), text(ORIGIN.as_str()));
    if !one_site || !one_origin {
        return false;
    }
    let is_own = |origin: &str| {
        text(HOST.as_str())
            .0
            .is_some_and(|host| names(origin, host))
    };
    match (site, origin) {
        (Some(site), None | Some("null")) => site == "same-origin",
        (Some(site), Some(origin)) => site == "same-origin" && is_own(origin),
        (None, Some(origin)) => is_own(origin),
        (None, None) => false,
    }
}

/// Whether an origin is a page's at this host. Behind a proxy with TLS the scheme is not this server's.
fn names(origin: &str, host: &str) -> bool {
    let authority = origin
        .strip_prefix("https://")
        .or_else(|| origin.strip_prefix("http://"));
    let parse = |text: &str| text.parse::<Authority>().ok();
    let (Some(origin), Some(host)) = (authority.and_then(parse), parse(host)) else {
        return false;
    };
    origin.as_str().eq_ignore_ascii_case(host.as_str())
}

#[cfg(test)]
mod tests {
    use salvo::http::{HeaderValue, Request};

    use super::is_same_origin;

    fn admits(headers: &[(&'static str, &str)]) -> bool {
        let mut req = Request::new();
        for (name, value) in headers {
            let value = HeaderValue::from_str(value).unwrap();
            req.headers_mut().append(*name, value);
        }
        is_same_origin(&req)
    }

    #[test]
    fn only_pages_of_this_server_send_its_forms() {
        let host = ("host", "localhost:8081");
        let origin = |text| ("origin", text);
        let site = |text| ("sec-fetch-site", text);
        for right in [
            &[host, origin("http://localhost:8081")][..],
            &[host, origin("https://LOCALHOST:8081")],
            &[host, origin("null"), site("same-origin")],
            &[host, site("same-origin")],
            &[host, origin("http://localhost:8081"), site("same-origin")],
        ] {
            assert!(admits(right), "{right:?}");
        }
        for wrong in [
            &[host][..],
            &[host, origin("null")],
            &[host, origin("http://localhost")],
            &[host, origin("http://localhost:3000")],
            &[host, origin("http://evil.example")],
            &[host, origin("http://localhost:8081.evil.example")],
            &[host, origin("http://x@localhost:8081")],
            &[host, origin("ftp://localhost:8081")],
            &[host, site("same-site")],
            &[host, site("none")],
            &[host, origin("http://localhost:8081"), site("cross-site")],
            &[host, origin("http://evil.example"), site("same-origin")],
            &[
                host,
                origin("http://localhost:8081"),
                origin("http://evil.example"),
            ],
            &[origin("http://localhost:8081")],
        ] {
            assert!(!admits(wrong), "{wrong:?}");
        }
    }
}
