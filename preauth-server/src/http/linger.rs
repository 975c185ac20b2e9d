//! Lets a caller finish what it is sending, so that it reads the answer.
//!
//! A connection that is closed while bytes are still arriving is reset, and a reset takes the answer
//! with it. What an endpoint left unread is read and thrown away, within bounds.

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
        // Most requests have no body, or none that is left. Who waits for a 100 sends nothing, and
        // reading would invite it to.
        if !req.body().is_end_stream() && !req.headers().contains_key(EXPECT) {
            // Out of time is as good as out of bytes.
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
