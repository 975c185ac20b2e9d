//! Makes a page of every refusal, wherever it was made.

use salvo::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use salvo::http::{Method, Request, Response};
use salvo::{Depot, FlowCtrl, Handler, async_trait};

use super::frame::Frame;
use super::message::{self, Message};

/// A layer around all others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrapped;

#[async_trait]
impl Handler for Wrapped {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        ctrl.call_next(req, depot, res).await;
        let Some(status) = res.status_code.filter(|it| it.as_u16() >= 400) else {
            return;
        };
        let media_type = res.headers().get(CONTENT_TYPE);
        if media_type.is_some_and(|it| it.as_bytes().starts_with(b"text/html")) {
            return;
        }
        res.take_body();
        let frame = Frame::of(req, String::new());
        message::page(&frame, status, Message::of_status(status)).write(res);
        if req.method() == Method::HEAD
            && let Some(length) = res.body.size()
        {
            let length = HeaderValue::from(length);
            res.headers_mut().insert(CONTENT_LENGTH, length);
        }
    }
}
