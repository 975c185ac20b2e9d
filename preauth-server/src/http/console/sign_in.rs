//! Signing in with an operator token, and signing out.

use askama::Template;
use preauth_core::ErrorCode;
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::pages::form::Form;
use crate::http::pages::same_origin::is_same_origin;
use crate::http::pages::words::Words;
use crate::http::pages::{headers, language};
use crate::http::reply::Reply;

use super::Console;
use super::failure::{Failure, render};
use super::frame::Frame;
use super::guard::{Open, Submit};
use super::links::{SIGN_IN, UNSENT, path_from, within_console};
use super::visit::{Visit, here};

#[derive(Template)]
#[template(path = "console/sign_in.html")]
struct SignInPage {
    f: Frame,
    /// Where to go afterwards.
    next: String,
    refusal: Option<&'static str>,
    /// Whether another form was sent without a session.
    is_unsent: bool,
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
            is_unsent: query.one(UNSENT).is_some(),
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
            is_unsent: false,
        };
        let status = refused.status();
        Ok(render(status, &page)?)
    }
}

/// Ends the session.
pub(super) struct SignOut;

#[async_trait]
impl Submit for SignOut {
    async fn submit(&self, visit: &Visit, _form: &Form, req: &Request) -> Result<Reply, Failure> {
        let cookie = visit.console.sign_out(&visit.signed, req).await?;
        Ok(headers::see_other(SIGN_IN).header("set-cookie", &cookie))
    }
}
