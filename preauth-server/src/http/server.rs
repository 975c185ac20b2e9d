//! A listener: bind, serve within limits, stop gracefully.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use preauth_core::ErrorCode;
use preauth_core::port::IdSource;
use salvo::catcher::Catcher;
use salvo::conn::{Acceptor, Listener, TcpListener, tcp::TcpAcceptor};
use salvo::fuse::FuseConfig;
use salvo::http::{Request, Response, StatusCode};
use salvo::server::ServerHandle;
use salvo::{Depot, FlowCtrl, Handler, Router, Server, Service, async_trait};

use crate::clock::Clock;

use super::error::ApiError;
use super::handler;
use super::linger::Linger;
use super::request_log::RequestLog;

/// Head of a request, request line included.
const HEAD_LIMIT_BYTES: usize = 16 * 1024;
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
const IDLE_TIMEOUT: Duration = Duration::from_secs(75);
const WRITE_STALL_TIMEOUT: Duration = Duration::from_secs(30);
const CONNECTION_LIMIT: usize = 2_000;

/// A bound listener that does not serve yet.
pub struct Bound {
    acceptor: TcpAcceptor,
    address: SocketAddr,
}

impl Bound {
    /// Binds `address`; port 0 takes any free one.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let acceptor = TcpListener::new(address)
            .try_bind()
            .await
            .map_err(|error| io::Error::other(error.to_string()))?;
        let bound = acceptor
            .holdings()
            .first()
            .and_then(|holding| holding.local_addr.clone().into_std());
        let address = bound.ok_or_else(|| io::Error::other("the listener has no address"))?;
        Ok(Self { acceptor, address })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until it is stopped: the work, to be spawned, and the handle that ends it.
    pub fn serve(self, service: Service) -> (impl Future<Output = ()> + Send + use<>, Stop) {
        let fuse = FuseConfig::default()
            .with_http1_header_timeout(HEAD_TIMEOUT)
            .with_connection_idle_timeout(IDLE_TIMEOUT)
            .with_write_stall_timeout(WRITE_STALL_TIMEOUT);
        let mut server = Server::new(self.acceptor)
            .fuse_config(fuse)
            .max_connections(CONNECTION_LIMIT);
        // Who has sent all it has to send may close its side and still wants an answer.
        server
            .http1_mut()
            .max_buf_size(HEAD_LIMIT_BYTES)
            .half_close(true);
        let stop = Stop(server.handle());
        let work = async {
            if let Err(error) = server.try_serve(service).await {
                tracing::error!(target: "listener", %error, "ended");
            }
        };
        (work, stop)
    }
}

/// Ends a listener.
pub struct Stop(ServerHandle);

impl Stop {
    /// Takes no new connections; requests under way have `grace` to end.
    pub fn gracefully(&self, grace: Duration) {
        self.0.stop_graceful(grace);
    }
}

/// `routes` with what every answer has: a request id, a line in the log, the error shape.
#[must_use]
pub fn service(
    routes: Router,
    listener: &'static str,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
) -> Service {
    Service::new(routes)
        .hoop(RequestLog {
            listener,
            clock,
            ids,
        })
        .hoop(Linger)
        .hoop(ExactPath)
        .catcher(Catcher::new(Unanswered))
}

/// A path has one spelling here: the framework would take `/a/` and `//a` for `/a`.
struct ExactPath;

#[async_trait]
impl Handler for ExactPath {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        let path = req.uri().path();
        if path.ends_with('/') || path.contains("//") {
            res.status_code(StatusCode::NOT_FOUND);
            ctrl.skip_rest();
        }
    }
}

/// Answers what no endpoint answered, in place of the framework's own pages.
struct Unanswered;

#[async_trait]
impl Handler for Unanswered {
    async fn handle(
        &self,
        _req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        let code = match res.status_code {
            Some(StatusCode::NOT_FOUND) => ErrorCode::NotFound,
            Some(StatusCode::METHOD_NOT_ALLOWED) => ErrorCode::MethodNotAllowed,
            Some(StatusCode::PAYLOAD_TOO_LARGE) => ErrorCode::PayloadTooLarge,
            Some(StatusCode::REQUEST_TIMEOUT) => ErrorCode::RequestTimeout,
            Some(status) if status.is_client_error() => ErrorCode::BadRequest,
            _ => ErrorCode::InternalError,
        };
        handler::refuse(ApiError::new(code), depot, res);
    }
}

impl std::fmt::Debug for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bound")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stop(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};
    use std::sync::Arc;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;
    use crate::clock::SystemClock;
    use crate::http::reply::Reply;
    use crate::ids::RandomIds;

    /// Panics, in the endpoint or around it.
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

    #[tokio::test]
    async fn a_panic_is_an_internal_error_and_the_server_lives_on() {
        let routes = Router::new()
            .push(Router::with_path("endpoint").get(Panicking::Endpoint))
            .push(Router::with_path("layer").get(Panicking::Layer));
        let service = service(routes, "test", Arc::new(SystemClock), Arc::new(RandomIds));
        let bound = Bound::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
            .await
            .unwrap();
        let address = bound.address();
        let (work, _stop) = bound.serve(service);
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
    }
}
