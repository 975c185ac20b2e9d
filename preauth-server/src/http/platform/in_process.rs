//! The platform API for callers in this process, which know the operator already: the console.
//!
//! It is the API itself, with the same routes, roles and rows in the audit log. Only the check of the
//! token is left out.

use std::sync::Arc;

use bytes::Bytes;
use percent_encoding::percent_decode_str;
use preauth_core::ErrorCode;
use preauth_core::access::OperatorRole;
use preauth_core::value::RequestId;
use preauth_core::wire::header::IDEMPOTENCY_KEY;
use salvo::Depot;
use salvo::http::header::{CONTENT_TYPE, HeaderValue};
use salvo::http::uri::Uri;
use salvo::http::{Method, ReqBody, Request};

use crate::http::client_address::ClientAddress;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::log;

use super::calling_operator::CallingOperator;
use super::resource::Guarded;
use super::{PREFIX, PlatformApi, routes};

/// The platform API without its listener.
pub(in crate::http) struct InProcess(Vec<Guarded>);

/// A request of an operator who is known already.
#[derive(Debug)]
pub(in crate::http) struct Call {
    pub(in crate::http) method: Method,
    /// Below the API's prefix, with a query if there is one.
    pub(in crate::http) path: String,
    pub(in crate::http) body: Option<String>,
    pub(in crate::http) idempotency_key: Option<String>,
}

/// On whose behalf, and for which request.
#[derive(Clone, Debug)]
pub(in crate::http) struct OnBehalf {
    pub(in crate::http) operator: CallingOperator,
    pub(in crate::http) request: RequestId,
    pub(in crate::http) client: ClientAddress,
}

/// Marks a request whose operator is known; no client can.
struct Known(CallingOperator);

/// The operator of a request that was made here.
pub(super) fn known_operator(req: &Request) -> Option<CallingOperator> {
    let known = req.extensions().get::<Arc<Known>>();
    known.map(|known| known.0.clone())
}

impl InProcess {
    pub(in crate::http) fn new(api: &Arc<PlatformApi>) -> Self {
        let resources = routes::all(api.time_machine.as_ref()).into_iter();
        Self(resources.flat_map(|it| it.guarded(api)).collect())
    }

    /// The answer to a call, or its refusal with all that the rules know of it. A path without a route is
    /// a record that does not exist.
    pub(in crate::http) async fn send(
        &self,
        call: Call,
        behalf: &OnBehalf,
    ) -> Result<Reply, ApiError> {
        let missing = || ApiError::new(ErrorCode::ResourceNotFound);
        let (route, mut req) = self.request(call, behalf).ok_or_else(missing)?;
        let outcome = route.outcome(&mut req, &mut Depot::new()).await;
        if let Some(cause) = outcome.as_ref().err().and_then(ApiError::cause) {
            let (route, id) = (&*route.route, behalf.request.to_string());
            let error = log::chain(cause);
            tracing::error!(target: "request", listener = "console", route, id, error);
        }
        outcome.map_err(ApiError::without_cause)
    }

    /// The request of a call, and its route.
    fn request(&self, call: Call, behalf: &OnBehalf) -> Option<(&Guarded, Request)> {
        let uri = Uri::try_from(format!("{PREFIX}/{}", call.path)).ok()?;
        let mut routes = self.0.iter().filter(|route| route.method == call.method);
        let (route, parameters) =
            routes.find_map(|route| Some((route, parameters(&route.route, uri.path())?)))?;
        let mut req = Request::new();
        *req.method_mut() = call.method;
        req.set_uri(uri);
        for (name, value) in parameters {
            req.params_mut().insert(&name, value);
        }
        let extensions = req.extensions_mut();
        extensions.insert(Arc::new(Known(behalf.operator.clone())));
        extensions.insert(behalf.request);
        extensions.insert(behalf.client);
        if let Some(body) = call.body {
            let json = HeaderValue::from_static("application/json");
            req.headers_mut().insert(CONTENT_TYPE, json);
            req.replace_body(ReqBody::Once(Bytes::from(body)));
        }
        if let Some(key) = call.idempotency_key {
            let key = HeaderValue::try_from(key).ok()?;
            req.headers_mut().insert(IDEMPOTENCY_KEY, key);
        }
        Some((route, req))
    }

    /// Whether the role permits what a route does; its path stands below the API's prefix, with the names of
    /// its parameters.
    pub(in crate::http) fn permits(&self, role: OperatorRole, method: &Method, path: &str) -> bool {
        let is_asked = |route: &&Guarded| {
            let below = route.route.strip_prefix(PREFIX);
            route.method == *method && below.is_some_and(|it| it.trim_start_matches('/') == path)
        };
        let route = self.0.iter().find(is_asked);
        route.is_some_and(|route| role.permits(route.minimum))
    }
}

/// The parameters of a path, if it is one of the template's.
fn parameters(template: &str, path: &str) -> Option<Vec<(String, String)>> {
    let mut found = Vec::new();
    let (mut names, mut segments) = (template.split('/'), path.split('/'));
    loop {
        let (name, segment) = match (names.next(), segments.next()) {
            (None, None) => return Some(found),
            (Some(name), Some(segment)) => (name, segment),
            (None, Some(_)) | (Some(_), None) => return None,
        };
        match name.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
            Some(name) => {
                let value = percent_decode_str(segment).decode_utf8().ok()?;
                found.push((name.to_owned(), value.into_owned()));
            }
            None if name == segment => {}
            None => return None,
        }
    }
}

impl std::fmt::Debug for InProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InProcess").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::parameters;

    #[test]
    fn a_path_is_one_of_its_template() {
        let found = parameters("/a/{id}/b/{cnpj}", "/a/12/b/x%2Fy").unwrap();
        let expected = [("id", "12"), ("cnpj", "x/y")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(found, expected);
        for other in ["/a/12/b", "/a/12/b/1/c", "/a/12/c/1", "a/12/b/1"] {
            assert_eq!(parameters("/a/{id}/b/{cnpj}", other), None, "{other}");
        }
    }
}
