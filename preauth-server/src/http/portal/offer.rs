//! The offer, and what became of it.

use askama::Template;
use salvo::async_trait;
use salvo::http::StatusCode;

use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::secret::SupplierPage;

use super::answer::Answer;
use super::frame::{self, Frame};
use super::message::Message;
use super::shown::Shown;
use super::visit::Visit;

#[derive(Clone, Copy)]
pub(super) struct Offer;

#[derive(Template)]
#[template(path = "portal/offer.html")]
struct OfferPage<'a> {
    frame: &'a Frame,
    shown: Shown,
    notice: Option<&'static str>,
}

#[async_trait]
impl Answer for Offer {
    const HAS_FORM: bool = false;

    async fn read(&self, visit: &Visit<'_>) -> Result<Reply, ApiError> {
        page(visit, StatusCode::OK, None)
    }
}

/// The page as it is now, with a notice if there is one.
pub(super) fn page(
    visit: &Visit<'_>,
    status: StatusCode,
    notice: Option<Message>,
) -> Result<Reply, ApiError> {
    let words = visit.frame.words;
    let page = OfferPage {
        frame: &visit.frame,
        shown: Shown::of(&visit.operation, words, visit.now),
        notice: notice.map(|notice| notice.text(words)),
    };
    frame::page(status, &page)
}
