//! GET /handshake: proves to a caller with the operator token that this server holds it as well.

use salvo::http::{Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, Router, async_trait};

use crate::http::error::ApiError;
use crate::http::handler;
use crate::http::reply::Reply;
use crate::http::request_notes::RequestNotes;
use crate::secret::HANDSHAKE_PATH;

use super::{OperatorGate, hosts};

pub(super) fn route(gate: OperatorGate) -> Router {
    Router::with_path(HANDSHAKE_PATH).get(Handshake(gate))
}

struct Handshake(OperatorGate);

impl Handshake {
    async fn answer(&self, req: &Request) -> Result<Reply, ApiError> {
        let address = hosts::local(req).ok_or_else(|| ApiError::internal("no local address"))?;
        let proof = self.0.prove(req, address).await?;
        let json = serde_json::to_string(&proof).map_err(ApiError::internal)?;
        Ok(Reply::json(StatusCode::OK, json))
    }
}

#[async_trait]
impl Handler for Handshake {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        RequestNotes::of(depot).route = Some(HANDSHAKE_PATH.into());
        handler::settle(self.answer(req).await, depot).write(res);
    }
}
