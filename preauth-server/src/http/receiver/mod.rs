//! A webhook receiver: accepts deliveries, passes them to a handler, and answers. The sandbox runs
//! one, and `listen` is one for developers.

mod delivery;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use salvo::catcher::Catcher;
use salvo::http::{HeaderValue, Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, Router, Service, async_trait};
use webhook_verify::SIGNATURE_HEADER;

use super::server::{Bound, ConnectionLimits, HangUp};

pub use delivery::Delivery;

/// Maximum size of a body; events are far smaller.
const BODY_LIMIT_BYTES: usize = 256 * 1024;
const PATH: &str = "webhooks";

/// A receiver with a bound port.
#[derive(Debug)]
pub struct Receiver {
    bound: Bound,
}

/// Handles deliveries.
pub trait DeliveryHandler: Send + Sync + 'static {
    /// Handles a delivery with the value of its signature header, and returns the answer.
    fn handle(&self, signature: Option<&[u8]>, body: &[u8]) -> Answer;
}

/// How a delivery is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Delay of the answer.
    pub after: Duration,
    /// The status; `None` closes the connection without an answer.
    pub status: Option<u16>,
}

impl Receiver {
    /// Binds `address`; port 0 binds any free port.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let bound = Bound::bind(address)?;
        Ok(Self { bound })
    }

    /// The URL to deliver to.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/{PATH}", self.bound.address())
    }

    /// Receives in the background until the process ends.
    pub fn start(self, handler: impl DeliveryHandler) {
        let route = Router::with_path(PATH).post(Receive(Arc::new(handler)));
        let service = Service::new(route).catcher(Catcher::new(Bare));
        let (work, _) = self.bound.serve(service, ConnectionLimits::default());
        tokio::spawn(work);
    }
}

impl Answer {
    /// An answer with this status and without delay.
    #[must_use]
    pub const fn at_once(status: u16) -> Self {
        Self {
            after: Duration::ZERO,
            status: Some(status),
        }
    }
}

struct Receive(Arc<dyn DeliveryHandler>);

#[async_trait]
impl Handler for Receive {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        let signature = req.headers().get(SIGNATURE_HEADER).cloned();
        let Ok(body) = req.payload_with_max_size(BODY_LIMIT_BYTES).await else {
            res.status_code(StatusCode::BAD_REQUEST);
            return;
        };
        let signature = signature.as_ref().map(HeaderValue::as_bytes);
        let answer = self.0.handle(signature, body);
        tokio::time::sleep(answer.after).await;
        match answer.status.map(StatusCode::from_u16) {
            Some(status) => {
                res.status_code(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
            }
            None => {
                res.extensions.insert(HangUp);
            }
        }
    }
}

/// Replaces the framework's error page: the status is enough.
struct Bare;

#[async_trait]
impl Handler for Bare {
    async fn handle(
        &self,
        _req: &mut Request,
        _depot: &mut Depot,
        _res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
    }
}
