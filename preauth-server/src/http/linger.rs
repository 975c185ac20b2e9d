//! Reads the rest of a request, so that its caller can read the answer.
//!
//! A connection that is closed while bytes are still arriving is reset, and a reset takes the
//! answer with it. The part of a body that the endpoint left unread is read and discarded, within
//! bounds.

use std::time::Duration;

use futures_util::StreamExt;
use salvo::http::header::EXPECT;
use salvo::http::{Request, Response};
use salvo::hyper::body::Body;
use salvo::{Depot, FlowCtrl, Handler, async_trait};

const LIMIT_BYTES: usize = 1024 * 1024;
const DEADLINE: Duration = Duration::from_secs(2);

/// A layer around every endpoint.
pub(super) struct Linger;

#[async_trait]
impl Handler for Linger {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        ctrl.call_next(req, depot, res).await;
        // Most requests have no body, or none that is left. A client that waits for a 100 sends
        // nothing, and reading would ask it to send.
        if !req.body().is_end_stream() && !req.headers().contains_key(EXPECT) {
            // A timeout ends the reading like the byte limit does.
            let _ = tokio::time::timeout(DEADLINE, discard(req)).await;
        }
    }
}

async fn discard(req: &mut Request) {
    let mut discarded: usize = 0;
    while let Some(Ok(frame)) = req.body_mut().next().await {
        let bytes = frame.into_data().unwrap_or_default();
        discarded = discarded.saturating_add(bytes.len());
        if discarded > LIMIT_BYTES {
            return;
        }
    }
}
