//! GET /openapi.json and its like: what the listener's API is, for whoever asks; without key or token.

use std::sync::Arc;

use salvo::http::{Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, Router, async_trait};

use super::reply::Reply;
use super::request_log::RequestNotes;

/// Where both listeners describe their API.
pub const DESCRIPTION: &str = "/openapi.json";
/// Where the public listener describes its API for code generators.
pub const DESCRIPTION_IN_3_0: &str = "/openapi-3.0.json";
/// Where it does so for creates with an invoice file.
pub const MULTIPART_DESCRIPTION_IN_3_0: &str = "/openapi-3.0-multipart.json";

/// The route of a description.
pub(super) fn route(path: &'static str, text: String) -> Router {
    let description = Description {
        text: text.into(),
        route: path.into(),
    };
    Router::with_path(path)
        .get(description.clone())
        .head(description)
}

#[derive(Clone)]
struct Description {
    text: Arc<str>,
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
        Reply::json(StatusCode::OK, self.text.to_string()).write(res);
    }
}
