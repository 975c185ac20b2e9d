//! Whether a form was sent by a page of another site.
//!
//! The link in the path is the authority, so a request without any sign of its origin is accepted: old
//! browsers, and mail programs that end mails with one click, send none. A page that keeps its address to
//! itself has the origin `null`, like a stranger's may; browsers then say in `Sec-Fetch-Site` which it is.

use salvo::http::Request;
use salvo::http::header::ORIGIN;
use url::Url;

const FETCH_SITE: &str = "sec-fetch-site";
const FRIENDLY: [&str; 2] = ["same-origin", "none"];

/// Whether the request shows that another site's page caused it; `base` is the address of the pages.
pub(super) fn is_cross_site(req: &Request, base: &Url) -> bool {
    let values = |name: &str| req.headers().get_all(name).iter();
    let own = base.origin().ascii_serialization();
    let mut sites = values(FETCH_SITE);
    let mut origins = values(ORIGIN.as_str());
    sites.any(|site| !FRIENDLY.iter().any(|it| site.as_bytes() == it.as_bytes()))
        || origins.any(|origin| {
            let origin = origin.to_str().unwrap_or_default();
            origin != "null" && !origin.eq_ignore_ascii_case(&own)
        })
}

#[cfg(test)]
mod tests {
    use salvo::http::{HeaderValue, Request};

    use super::is_cross_site;

    fn refuses(headers: &[(&'static str, &str)]) -> bool {
        let mut req = Request::new();
        for (name, value) in headers {
            let value = HeaderValue::from_str(value).unwrap();
            req.headers_mut().append(*name, value);
        }
        is_cross_site(&req, &"https://ofertas.example.com".parse().unwrap())
    }

    #[test]
    fn a_form_of_another_site_is_recognized() {
        let own = ("origin", "https://ofertas.example.com");
        let null = ("origin", "null");
        let site = |text| ("sec-fetch-site", text);
        for right in [
            &[][..],
            &[own],
            &[null],
            &[null, site("same-origin")],
            &[own, site("same-origin")],
            &[site("none")],
        ] {
            assert!(!refuses(right), "{right:?}");
        }
        for wrong in [
            &[("origin", "https://evil.example")][..],
            &[("origin", "http://ofertas.example.com")],
            &[("origin", "https://ofertas.example.com:8443")],
            &[("origin", "")],
            &[null, site("cross-site")],
            &[own, site("same-site")],
            &[site("")],
            &[own, ("origin", "https://evil.example")],
            &[site("same-origin"), site("cross-site")],
        ] {
            assert!(refuses(wrong), "{wrong:?}");
        }
    }
}
