//! A page that asks for confirmation, with a field or without.

use askama::Template;
use salvo::http::StatusCode;

use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::secret::SupplierPage;

use super::field::Field;
use super::frame::{self, Frame};
use super::shown::Shown;
use super::visit::Visit;

/// What is to be confirmed.
pub(super) struct Confirmation {
    pub(super) page: SupplierPage,
    pub(super) heading: &'static str,
    /// What it leads to.
    pub(super) effect: String,
    pub(super) button: &'static str,
    /// The class of the button.
    pub(super) tone: &'static str,
    pub(super) field: Option<Field>,
}

#[derive(Template)]
#[template(path = "portal/confirm.html")]
struct Confirm<'a> {
    frame: &'a Frame,
    shown: Shown,
    page: SupplierPage,
    heading: &'static str,
    effect: &'a str,
    button: &'static str,
    tone: &'static str,
    field: Option<&'a Field>,
}

/// The page; a refused field makes it a 422.
pub(super) fn page(visit: &Visit<'_>, confirmation: &Confirmation) -> Result<Reply, ApiError> {
    let field = confirmation.field.as_ref();
    let is_refused = field.is_some_and(|field| field.error.is_some());
    let status = if is_refused {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::OK
    };
    let page = Confirm {
        frame: &visit.frame,
        shown: Shown::of(&visit.operation, visit.frame.words, visit.now),
        page: confirmation.page,
        heading: confirmation.heading,
        effect: &confirmation.effect,
        button: confirmation.button,
        tone: confirmation.tone,
        field,
    };
    frame::page(status, &page)
}
