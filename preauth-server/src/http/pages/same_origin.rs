//! Whether a form was sent by a page of this server.
//!
//! Browsers say so in `Sec-Fetch-Site`, but only to servers with TLS or on their own machine, and in
//! `Origin`, which is `null` for pages that hide their address. A request with neither is refused.
//!
//! Where a proxy serves the pages with TLS, a page without it is another's: whoever is in the network
//! can write one. So `http` is the own scheme only of a request that came without TLS to an address or a
//! name of this machine; `console.hosts` are names of a proxy with TLS.

use salvo::http::Request;
use salvo::http::header::{HOST, ORIGIN};
use salvo::http::uri::Authority;

use crate::http::client_address::CameByTls;

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
    let only_tls = came_by_tls(req);
    let is_own = |origin: &str| {
        text(HOST.as_str())
            .0
            .is_some_and(|host| names(origin, host, only_tls))
    };
    match (site, origin) {
        (Some(site), None | Some("null")) => site == "same-origin",
        (Some(site), Some(origin)) => site == "same-origin" && is_own(origin),
        (None, Some(origin)) => is_own(origin),
        (None, None) => false,
    }
}

/// Whether the browser sent the request by TLS, by what the proxy says or by the name that it was sent to.
pub(in crate::http) fn came_by_tls(req: &Request) -> bool {
    CameByTls::of_request(req) || req.extensions().get::<BehindTls>().is_some()
}

/// Marks a request to a name that a proxy with TLS serves.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct BehindTls;

/// Whether an origin is a page's at this host.
fn names(origin: &str, host: &str, only_tls: bool) -> bool {
    let plain = || origin.strip_prefix("http://").filter(|_| !only_tls);
    let authority = origin.strip_prefix("https://").or_else(plain);
    let parse = |text: &str| text.parse::<Authority>().ok();
    let (Some(origin), Some(host)) = (authority.and_then(parse), parse(host)) else {
        return false;
    };
    origin.as_str().eq_ignore_ascii_case(host.as_str())
}

#[cfg(test)]
mod tests {
    use salvo::http::{HeaderValue, Request};

    use super::{BehindTls, is_same_origin};

    fn request(headers: &[(&'static str, &str)]) -> Request {
        let mut req = Request::new();
        for (name, value) in headers {
            let value = HeaderValue::from_str(value).unwrap();
            req.headers_mut().append(*name, value);
        }
        req
    }

    fn admits(headers: &[(&'static str, &str)]) -> bool {
        is_same_origin(&request(headers))
    }

    #[test]
    fn behind_tls_a_page_without_it_is_another_site() {
        let at = |origin| {
            let mut req = request(&[("host", "console.example"), ("origin", origin)]);
            req.extensions_mut().insert(BehindTls);
            is_same_origin(&req)
        };
        assert!(at("https://console.example"));
        assert!(!at("http://console.example"));
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
