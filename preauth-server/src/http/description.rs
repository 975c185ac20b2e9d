//! GET /openapi.json and its variants: the description of the listener's API, without key or token.

use std::sync::Arc;

use salvo::http::{Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, Router, async_trait};

use super::reply::Reply;
use super::request_notes::RequestNotes;

/// Path of the description, on both listeners.
pub const DESCRIPTION: &str = "/openapi.json";
/// Path of the public listener's OpenAPI 3.0 description, for code generators.
pub const DESCRIPTION_IN_3_0: &str = "/openapi-3.0.json";
/// Path of the OpenAPI 3.0 description of creates with an invoice file.
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
