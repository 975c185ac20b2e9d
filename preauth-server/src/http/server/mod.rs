//! Common to all listeners: connection limits and the layers around every answer.

mod checked_heads;
mod connection;
mod exact_path;
pub mod head;
mod listener;
mod registry;
mod strict;
mod transport;
mod unanswered;

use std::sync::Arc;

use preauth_core::port::IdSource;
use salvo::{Handler, Router, Service};

use crate::clock::Clock;
use crate::telemetry::RequestTelemetry;

use super::linger::Linger;
use super::request_log::RequestLog;

use exact_path::ExactPath;
use strict::Strict;
use unanswered::Unanswered;

pub(super) use connection::HangUp;
pub(super) use head::Flaw;
pub use listener::{Bound, Stop};
pub use registry::ConnectionLimits;
pub(super) use transport::PeerEnd;

/// `routes` with the common layers: a request id, a line in the log, the error shape.
#[must_use]
pub fn service(
    routes: Router,
    listener: &'static str,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    telemetry: RequestTelemetry,
) -> Service {
    let log = RequestLog {
        listener,
        has_secret_paths: false,
        clock,
        ids,
        telemetry,
    };
    layered(Service::new(routes), log)
}

/// The same with a layer around the routes, which sees what none of them answered.
#[must_use]
pub(super) fn service_with_layer(
    routes: Router,
    layer: impl Handler,
    listener: &'static str,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    telemetry: RequestTelemetry,
) -> Service {
    let log = RequestLog {
        listener,
        has_secret_paths: false,
        clock,
        ids,
        telemetry,
    };
    around(Service::new(routes), log)
        .hoop(layer)
        .hoop(ExactPath)
}

/// A service for pages whose paths are secret: the log has the route in place of the path. `outermost` is
/// a layer around all of these.
#[must_use]
pub(super) fn service_with_secret_paths(
    routes: Router,
    outermost: impl Handler,
    listener: &'static str,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    telemetry: RequestTelemetry,
) -> Service {
    let log = RequestLog {
        listener,
        has_secret_paths: true,
        clock,
        ids,
        telemetry,
    };
    layered(Service::new(routes).hoop(outermost), log)
}

fn layered(service: Service, log: RequestLog) -> Service {
    around(service, log).hoop(ExactPath)
}

/// The outer layers.
fn around(service: Service, log: RequestLog) -> Service {
    let listener = log.listener;
    service
        .hoop(log)
        .hoop(Unanswered { listener })
        .hoop(Linger)
        .hoop(Strict)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};
    use std::sync::Arc;

    use salvo::http::{Request, Response};
    use salvo::{Depot, FlowCtrl, async_trait};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;
    use crate::clock::SystemClock;
    use crate::http::error::ApiError;
    use crate::http::handler;
    use crate::http::reply::Reply;
    use crate::ids::RandomIds;
    use crate::telemetry::metrics::{Metrics, render};

    /// Panics in the endpoint or in a layer.
    #[derive(Clone, Copy)]
    enum Panicking {
        Endpoint,
        Layer,
    }

    #[async_trait]
    impl Handler for Panicking {
        async fn handle(
            &self,
            _req: &mut Request,
            depot: &mut Depot,
            res: &mut Response,
            _ctrl: &mut FlowCtrl,
        ) {
            let answer = async { panic!("on purpose") };
            match self {
                Self::Endpoint => {
                    let outcome: Result<Reply, ApiError> = handler::run(answer).await;
                    handler::settle(outcome, depot).write(res);
                }
                Self::Layer => {
                    let _: Result<Reply, ApiError> = answer.await;
                }
            }
        }
    }

    // Contract: error-code/INTERNAL_ERROR
    #[tokio::test]
    async fn a_panic_is_an_internal_error_and_the_server_lives_on() {
        let routes = Router::new()
            .push(Router::with_path("endpoint").get(Panicking::Endpoint))
            .push(Router::with_path("layer").get(Panicking::Layer));
        let metrics = Metrics::new();
        let service = service(
            routes,
            "platform",
            Arc::new(SystemClock),
            Arc::new(RandomIds),
            RequestTelemetry {
                metrics: metrics.requests.clone(),
                traces: None,
            },
        );
        let bound = Bound::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let address = bound.address();
        let (work, _stop) = bound.serve(service, ConnectionLimits::default());
        tokio::spawn(work);
        for path in ["endpoint", "layer", "endpoint"] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let request = format!("GET /{path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 500 "), "{answer}");
            assert!(answer.contains("x-request-id: "), "{answer}");
            assert!(answer.contains("INTERNAL_ERROR"), "{answer}");
            assert!(!answer.contains("on purpose"), "{answer}");
        }
        let counted = render(&metrics.gather());
        for line in [
            "preauth_refusals_total{api=\"platform\",code=\"INTERNAL_ERROR\"} 3",
            "preauth_http_requests_in_flight{api=\"platform\"} 0",
        ] {
            assert!(counted.lines().any(|it| it == line), "{line}: {counted}");
        }
    }
}
