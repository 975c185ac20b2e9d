//! Cookies of a request, and their setting.

use salvo::http::Request;
use salvo::http::header::COOKIE;

/// The value of a cookie; `None` when there are several of its name, because only one was set here.
pub(in crate::http) fn cookie(req: &Request, name: &str) -> Option<String> {
    let headers = req.headers().get_all(COOKIE).iter();
    let mut values = headers
        .filter_map(|header| header.to_str().ok())
        .flat_map(|header| header.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(each, _)| *each == name)
        .map(|(_, value)| value);
    let value = values.next()?;
    values.next().is_none().then(|| value.to_owned())
}

/// A `Set-Cookie` that no script reads and no other site's request carries.
pub(in crate::http) fn set(
    name: &str,
    value: &str,
    path: &str,
    max_age_seconds: i64,
    is_secure: bool,
) -> String {
    let secure = if is_secure { "; Secure" } else { "" };
    format!(
        "{name}={value}; Path={path}; Max-Age={max_age_seconds}; HttpOnly; SameSite=Strict{secure}"
    )
}

#[cfg(test)]
mod tests {
    use salvo::http::{HeaderValue, Request};

    use super::{COOKIE, cookie};

    fn read(headers: &[&str]) -> Option<String> {
        let mut req = Request::new();
        for header in headers {
            let value = HeaderValue::from_str(header).unwrap();
            req.headers_mut().append(COOKIE, value);
        }
        cookie(&req, "a")
    }

    #[test]
    fn a_cookie_is_found_among_others_and_never_guessed() {
        assert_eq!(read(&["b=1; a=2;c=3"]).as_deref(), Some("2"));
        assert_eq!(read(&["b=1", "a=x=y"]).as_deref(), Some("x=y"));
        for none in [&[][..], &["aa=1"], &["a"], &["a=1; a=2"], &["a=1", "a=1"]] {
            assert_eq!(read(none), None, "{none:?}");
        }
    }
}
