//! GET /openapi.json: what the listener's API is, for whoever asks; without key or token.

use std::sync::Arc;

use salvo::http::{Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, Router, async_trait};

use super::reply::Reply;
use super::request_log::RequestNotes;

/// Where both listeners describe their API.
pub const DESCRIPTION: &str = "/openapi.json";

/// The route of a description.
pub(super) fn route(text: String) -> Router {
    let description = Description {
        reply: Reply::json(StatusCode::OK, text),
        route: DESCRIPTION.into(),
    };
    Router::with_path(DESCRIPTION)
        .get(description.clone())
        .head(description)
}

#[derive(Clone)]
struct Description {
    reply: Reply,
    route: Arc<str>,
}

#[async_trait]
impl Handler for Description {
    async fn handle(
        &self,
        _req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        RequestNotes::of(depot).route = Some(Arc::clone(&self.route));
        self.reply.clone().write(res);
    }
}
