//! The switch of languages.

use preauth_core::ErrorCode;
use salvo::async_trait;
use salvo::http::Request;

use crate::http::error::ApiError;
use crate::http::pages::form::Form;
use crate::http::pages::same_origin::{came_by_tls, is_same_origin};
use crate::http::pages::{cookies, headers, language};
use crate::http::reply::Reply;

use super::failure::Failure;
use super::guard::Open;
use super::links::within_console;
use super::{Console, PREFIX};

/// Keeps the reader's choice in a cookie, and returns to the page.
pub(super) struct Switch;

#[async_trait]
impl Open for Switch {
    async fn answer(&self, _console: &Console, req: &mut Request) -> Result<Reply, Failure> {
        if !is_same_origin(req) {
            return Err(Failure::ForeignForm);
        }
        let form = Form::read(req).await?;
        let chosen = form.one("language").and_then(language::parse);
        let chosen = chosen.ok_or(ApiError::new(ErrorCode::BadRequest))?;
        let cookie = cookies::set(
            language::COOKIE,
            language::name(chosen),
            PREFIX,
            language::COOKIE_SECONDS,
            came_by_tls(req),
        );
        let next = within_console(form.one("next").unwrap_or_default());
        Ok(headers::see_other(next).header("set-cookie", &cookie))
    }
}
