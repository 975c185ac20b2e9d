//! Signing in with an operator token, and signing out.

use askama::Template;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use preauth_core::ErrorCode;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::error::{self, ApiError};
use crate::http::pages::form::Form;
use crate::http::pages::same_origin::is_same_origin;
use crate::http::pages::words::Words;
use crate::http::pages::{headers, language};
use crate::http::reply::Reply;

use super::failure::{Failure, render};
use super::frame::Frame;
use super::guard::{Open, Submit};
use super::visit::{Visit, here};
use super::{Console, PREFIX};

const PATH: &str = "/console/sign-in";

#[derive(Template)]
#[template(path = "console/sign_in.html")]
struct SignInPage {
    f: Frame,
    /// Where to go afterwards.
    next: String,
    refusal: Option<&'static str>,
}

/// The path of the form, which leads back to a page.
pub(super) fn path_from(page: &str) -> String {
    let next = utf8_percent_encode(within_console(page), NON_ALPHANUMERIC);
    format!("{PATH}?next={next}")
}

/// The path, if it is one of the console, so that no link leads elsewhere; otherwise the first page.
pub(super) fn within_console(path: &str) -> &str {
    let is_plain =
        |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'"' | b'<' | b'>');
    let rest = path.strip_prefix(PREFIX);
    let is_console = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    if is_console && path.bytes().all(is_plain) {
        path
    } else {
        PREFIX
    }
}

/// The form.
pub(super) struct Ask;

#[async_trait]
impl Open for Ask {
    async fn answer(&self, console: &Console, req: &mut Request) -> Result<Reply, Failure> {
        let query = Form::parse(req.uri().query().unwrap_or_default().as_bytes());
        let query = query.unwrap_or_default();
        let next = within_console(query.one("next").unwrap_or_default());
        if console.signed(req).await?.is_some() {
            return Ok(headers::see_other(next));
        }
        let page = SignInPage {
            f: Frame::open(Words(language::of_request(req)), &here(req)),
            next: next.to_owned(),
            refusal: None,
        };
        Ok(render(StatusCode::OK, &page)?)
    }
}

/// Opens a session.
pub(super) struct SignIn;

#[async_trait]
impl Open for SignIn {
    async fn answer(&self, console: &Console, req: &mut Request) -> Result<Reply, Failure> {
        if !is_same_origin(req) {
            return Err(Failure::ForeignForm);
        }
        let form = Form::read(req).await?;
        let next = within_console(form.one("next").unwrap_or_default());
        let w = Words(language::of_request(req));
        let token = form.one("token").unwrap_or_default();
        let refused = match console.sign_in(token, req).await {
            Ok(cookie) => return Ok(headers::see_other(next).header("set-cookie", &cookie)),
            Err(refused) => refused,
        };
        let refusal = match refused.code {
            ErrorCode::PlatformTokenInvalid => w.t(
                "This token is not valid. Was it copied whole, and has it neither expired nor been revoked?",
                "Este token não é válido. Foi copiado por inteiro, e não venceu nem foi revogado?",
            ),
            ErrorCode::RateLimited => w.t(
                "Too many wrong tokens came from this address. Wait a minute.",
                "Vieram tokens errados demais deste endereço. Espere um minuto.",
            ),
            _ => return Err(refused.into()),
        };
        let page = SignInPage {
            f: Frame::open(w, &path_from(next)),
            next: next.to_owned(),
            refusal: Some(refusal),
        };
        let status = error::status(refused.code);
        Ok(render(status, &page)?)
    }
}

/// Ends the session.
pub(super) struct SignOut;

#[async_trait]
impl Submit for SignOut {
    async fn submit(&self, visit: &Visit, _form: &Form, req: &Request) -> Result<Reply, Failure> {
        let ended = visit.console.sign_out(&visit.signed, req).await;
        let cookie = ended.map_err(ApiError::from)?;
        Ok(headers::see_other(PATH).header("set-cookie", &cookie))
    }
}

#[cfg(test)]
mod tests {
    use super::within_console;

    #[test]
    fn no_link_leads_out_of_the_console() {
        for inside in ["/console", "/console/operations/12", "/console?page=2"] {
            assert_eq!(within_console(inside), inside);
        }
        for outside in [
            "",
            "/",
            "//evil.example",
            "/consolex",
            "https://evil.example/console",
            "/console\\evil",
            "/console/\r\nset-cookie: x",
        ] {
            assert_eq!(within_console(outside), "/console", "{outside:?}");
        }
    }
}
