//! A webhook receiver: takes deliveries, lets somebody check them, and answers. The sandbox has one
//! inside, and `listen` is one for developers.

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

/// A body is read up to here; events are far smaller.
const BODY_LIMIT_BYTES: usize = 256 * 1024;
const PATH: &str = "webhooks";

/// A receiver that has its port.
#[derive(Debug)]
pub struct Receiver {
    bound: Bound,
}

/// Who checks what arrives.
pub trait DeliveryHandler: Send + Sync + 'static {
    /// Hears of a delivery, with the value of its signature header, and says how to answer.
    fn handle(&self, signature: Option<&[u8]>, body: &[u8]) -> Answer;
}

/// How a delivery is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How long the sender waits for it.
    pub after: Duration,
    /// The status; without one the connection is closed and nothing answered.
    pub status: Option<u16>,
}

impl Receiver {
    /// Takes the port of `address`; port 0 takes any free one.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let bound = Bound::bind(address).await?;
        Ok(Self { bound })
    }

    /// Where deliveries should go.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/{PATH}", self.bound.address())
    }

    /// Receives in the background for as long as the process lives.
    pub fn start(self, handler: impl DeliveryHandler) {
        let route = Router::with_path(PATH).post(Receive(Arc::new(handler)));
        let service = Service::new(route).catcher(Catcher::new(Bare));
        let (work, _) = self.bound.serve(service, ConnectionLimits::default());
        tokio::spawn(work);
    }
}

impl Answer {
    /// At once, with this status.
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

/// In place of the framework's page: a status says it all.
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
