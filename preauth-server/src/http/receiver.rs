//! The sandbox's own webhook receiver: verifies every delivery and says what arrived.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use preauth_core::wire::{EventData, RawEventEnvelope};
use salvo::http::{Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, Router, Service, async_trait};
use webhook_verify::{SIGNATURE_HEADER, Secret, Verifier};

use super::server::Bound;

const BODY_LIMIT_BYTES: usize = 256 * 1024;

/// A receiver on a free loopback port.
pub struct Receiver {
    bound: Bound,
}

impl Receiver {
    /// Takes a free port.
    pub async fn bind() -> io::Result<Self> {
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Ok(Self {
            bound: Bound::bind(any_port).await?,
        })
    }

    /// Where deliveries should go.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/webhooks", self.bound.address())
    }

    /// Receives in the background for as long as the process lives.
    pub fn start(self, secret: Secret) {
        let route = Router::with_path("webhooks").post(Receive(Verifier::new(secret)));
        let (work, _) = self.bound.serve(Service::new(route));
        tokio::spawn(work);
    }
}

impl std::fmt::Debug for Receiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Receiver")
            .field("bound", &self.bound)
            .finish()
    }
}

struct Receive(Verifier);

#[async_trait]
impl Handler for Receive {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        let signature = req
            .headers()
            .get(SIGNATURE_HEADER)
            .map(|value| value.as_bytes().to_owned());
        let Ok(body) = req.payload_with_max_size(BODY_LIMIT_BYTES).await else {
            res.status_code(StatusCode::BAD_REQUEST);
            return;
        };
        match self.0.verify_now(signature.as_deref(), body) {
            Ok(verified) => {
                tracing::info!(target: "receiver", "{}", story(verified.body()));
                res.status_code(StatusCode::NO_CONTENT);
            }
            Err(error) => {
                tracing::warn!(target: "receiver", "signature refused: {error}");
                res.status_code(StatusCode::BAD_REQUEST);
            }
        }
    }
}

fn story(body: &[u8]) -> String {
    let Ok(envelope) = RawEventEnvelope::from_json(body) else {
        return "signature verified, but the body is no event".to_owned();
    };
    let subject = match envelope.data() {
        Ok(EventData::Operation(data)) => {
            format!(
                ": operation {} is {}",
                data.anticipation_id,
                data.status.as_str()
            )
        }
        _ => String::new(),
    };
    format!(
        "signature verified, event {} {}{subject}",
        envelope.id,
        envelope.event_type.as_str()
    )
}
