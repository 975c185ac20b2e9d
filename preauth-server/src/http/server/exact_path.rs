//! Refuses alternative spellings of a path.

use percent_encoding::percent_decode_str;
use salvo::http::{Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, async_trait};

/// A layer around every endpoint: the framework would accept `/a/` and `//a` as `/a`, and `%61` for
/// any letter of a route. Only the parameters of a route may be percent-encoded.
pub(super) struct ExactPath;

#[async_trait]
impl Handler for ExactPath {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        if !is_exact(req) {
            res.status_code(StatusCode::NOT_FOUND);
            ctrl.skip_rest();
        }
    }
}

fn is_exact(req: &Request) -> bool {
    let path = req.uri().path();
    let segments = || path.split('/').skip(1);
    let mut parameters: Vec<_> = req.params().values().map(String::as_str).collect();
    let is_parameter = |segment: &str| {
        let Ok(decoded) = percent_decode_str(segment).decode_utf8() else {
            return true; // No route has such a letter, so that a parameter took it or none matched.
        };
        let place = parameters.iter().position(|value| *value == decoded);
        place.map(|place| parameters.swap_remove(place)).is_some()
    };
    let mut encoded = segments().filter(|segment| segment.contains('%'));
    let is_start = path == "/";
    (is_start || segments().all(|segment| !segment.is_empty())) && encoded.all(is_parameter)
}
