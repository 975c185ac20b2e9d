//! What an orchestrator asks: is the process alive, can it serve requests.
//!
//! No token is asked for: the answers tell nothing that the listener's address does not.

use std::sync::Arc;
use std::time::Duration;

use salvo::http::{Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, Router, async_trait};

use crate::http::error::ApiError;
use crate::http::handler;
use crate::http::reply::Reply;

use super::{LIVEZ, PlatformApi, READYZ, Refusal};

/// A check that takes longer has failed.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// Says whether requests can be served.
#[async_trait]
pub trait Readiness: Send + Sync {
    /// The name of the check that failed, if one did: short, and without anything secret.
    async fn check(&self) -> Result<(), String>;
}

/// `GET /livez` and `GET /readyz`.
pub(super) fn routes(api: &Arc<PlatformApi>) -> Router {
    let readyz = || Readyz {
        readiness: Arc::clone(&api.readiness),
    };
    Router::new()
        .push(Router::with_path(LIVEZ).get(Livez).head(Livez))
        .push(Router::with_path(READYZ).get(readyz()).head(readyz()))
}

struct Livez;

#[async_trait]
impl Handler for Livez {
    async fn handle(
        &self,
        _req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        ok().write(res);
    }
}

struct Readyz {
    readiness: Arc<dyn Readiness>,
}

impl Readyz {
    async fn answer(&self) -> Result<Reply, ApiError> {
        let checked = tokio::time::timeout(CHECK_TIMEOUT, self.readiness.check()).await;
        match checked.unwrap_or_else(|_| Err("timeout".to_owned())) {
            Ok(()) => Ok(ok()),
            Err(check) => Err(Refusal::NotReady { check }.into()),
        }
    }
}

#[async_trait]
impl Handler for Readyz {
    async fn handle(
        &self,
        _req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        let outcome = handler::run(self.answer()).await;
        handler::settle(outcome, depot).write(res);
    }
}

fn ok() -> Reply {
    Reply::json(StatusCode::OK, r#"{"status":"ok"}"#.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Arc, Readiness, Readyz, async_trait};
    use salvo::http::StatusCode;

    struct Checked(Option<&'static str>);

    #[async_trait]
    impl Readiness for Checked {
        async fn check(&self) -> Result<(), String> {
            self.0.map_or(Ok(()), |check| Err(check.to_owned()))
        }
    }

    async fn status(readiness: impl Readiness + 'static) -> StatusCode {
        let readiness = Arc::new(readiness);
        match (Readyz { readiness }).answer().await {
            Ok(reply) => reply.status,
            Err(error) => error.into_reply().status,
        }
    }

    #[tokio::test]
    async fn it_is_ready_when_no_check_fails() {
        assert_eq!(status(Checked(None)).await, StatusCode::OK);
        let failed = status(Checked(Some("database"))).await;
        assert_eq!(failed, StatusCode::SERVICE_UNAVAILABLE);
    }
}
