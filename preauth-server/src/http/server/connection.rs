//! One connection: its requests and answers, each within its time limit.

use std::error::Error as StdError;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use salvo::Service;
use salvo::conn::{ConnCtrl, StraightStream, http1};
use salvo::fuse::FuseConfig;
use salvo::http::uri::Scheme;
use salvo::hyper::body::{Body, Frame, Incoming, SizeHint};
use salvo::hyper::service::Service as HyperService;
use salvo::hyper::{Request, Response};
use salvo::rt::tokio::{TokioIo, TokioTimer};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::http::in_progress::InProgress;

use super::checked_heads::{CheckedHeads, HEAD_LIMIT_BYTES, HeadChecks};
use super::registry::{Begun, Evicted, Place};
use super::strict::TooManyInProgress;
use super::transport::PeerEnd;

/// Maximum time without a byte in either direction, within a request or between two.
const IDLE_TIMEOUT: Duration = Duration::from_secs(75);
/// Maximum time in which the peer accepts no byte of an answer.
const WRITE_STALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum number of buffered bytes of a body that was not read yet, and of an answer that was not
/// sent yet.
const BUFFER_LIMIT_BYTES: usize = 16 * 1024;

/// The two addresses of a connection, and its place among the open ones.
#[derive(Debug)]
pub(super) struct ConnectionInfo {
    pub local: SocketAddr,
    pub peer: SocketAddr,
    pub place: Place,
    pub evicted: Evicted,
    /// Where the end of the peer can be seen.
    pub peer_end: Option<PeerEnd>,
}

/// An extension of an answer: it is not sent, and its connection is closed.
#[derive(Clone, Copy, Debug, Error)]
#[error("hung up on purpose")]
pub(in crate::http) struct HangUp;

/// Serves a connection until one side closes it, it is evicted, or `stopping` completes: then the
/// request in progress is answered and no further one accepted.
pub(super) async fn serve<S>(
    transport: S,
    info: ConnectionInfo,
    service: &Service,
    stopping: impl Future<Output = ()>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let control = ConnCtrl::new();
    let limits = FuseConfig::disabled()
        .with_connection_idle_timeout(IDLE_TIMEOUT)
        .with_write_stall_timeout(WRITE_STALL_TIMEOUT);
    let timed = StraightStream::new(transport, Some(limits), control.clone(), None);
    let ConnectionInfo {
        local,
        peer,
        place,
        evicted,
        peer_end,
    } = info;
    let checks = HeadChecks::new(place);
    let heads = CheckedHeads::new(timed, checks.clone());
    let (local, peer) = (local.into(), peer.into());
    let handler = service.hyper_handler(local, peer, Scheme::HTTP, None, control, None);
    let requests = Requests {
        handler,
        checks,
        peer_end,
    };
    let mut connection = pin!(protocol().serve_connection(TokioIo::new(heads), requests));
    let mut stopping = pin!(stopping);
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        // The connection is idle, and every answer was sent.
        _ = evicted => return,
        () = stopping.as_mut() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        // Peers disconnect, send invalid HTTP or time out; none of these is a fault of this server.
        tracing::debug!(target: "connection", %error, "ended");
    }
}

/// The HTTP/1 settings.
fn protocol() -> http1::Builder {
    let mut protocol = http1::Builder::new();
    protocol
        .timer(TokioTimer::new())
        // `CheckedHeads` enforces the time limit of a head.
        .header_read_timeout(None)
        .max_header_size(HEAD_LIMIT_BYTES)
        .max_buf_size(BUFFER_LIMIT_BYTES)
        // A client may close its sending side and still wait for the answer.
        .half_close(true);
    protocol
}

/// The service, combined with the checks of each request's head.
struct Requests<H> {
    handler: H,
    checks: HeadChecks,
    peer_end: Option<PeerEnd>,
}

impl<H, B> HyperService<Request<Incoming>> for Requests<H>
where
    H: HyperService<Request<Incoming>, Response = Response<B>>,
    H::Error: StdError + Send + Sync + 'static,
    H::Future: Send + 'static,
{
    type Response = Response<Tracked<B>>;
    type Error = Box<dyn StdError + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        let place = self.checks.place();
        let client = place.client(request.headers());
        let by_tls = place.came_by_tls(request.headers());
        request.extensions_mut().insert(client);
        request.extensions_mut().insert(by_tls);
        if let Some(peer_end) = &self.peer_end {
            request.extensions_mut().insert(peer_end.clone());
        }
        match place.begin(client) {
            Begun::UnderWay => {}
            Begun::Crowded => {
                request.extensions_mut().insert(TooManyInProgress);
            }
            Begun::Evicted => return Box::pin(async { Err(HangUp.into()) }),
        }
        if let Some(flaw) = self.checks.begin() {
            request.extensions_mut().insert(flaw);
        }
        let answer = self.handler.call(request);
        let checks = self.checks.clone();
        Box::pin(async move {
            let answer = answer.await;
            checks.end();
            let mut answer = answer?;
            checks.keep(answer.extensions_mut().remove::<InProgress>());
            match answer.extensions().get::<HangUp>() {
                // An error ends the connection.
                Some(hang_up) => Err((*hang_up).into()),
                None => Ok(answer.map(|body| Tracked { body, checks })),
            }
        })
    }
}

/// The body of an answer; its end is recorded.
struct Tracked<B> {
    body: B,
    checks: HeadChecks,
}

impl<B: Body + Unpin> Body for Tracked<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B> Drop for Tracked<B> {
    fn drop(&mut self) {
        self.checks.body_taken();
    }
}

#[cfg(test)]
mod tests {
    use salvo::http::StatusCode;
    use salvo::{Depot, FlowCtrl, Handler, Router, async_trait};
    use std::sync::Arc;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::{Instant, sleep};

    use preauth_core::value::CompanyId;
    use uuid::Uuid;

    use super::super::registry::{ConnectionLimits, Registry};
    use super::*;
    use crate::clock::SystemClock;
    use crate::http::body;
    use crate::http::reply::Reply;
    use crate::http::{RequestsInProgress, handler, server};
    use crate::ids::RandomIds;
    use crate::telemetry::RequestTelemetry;
    use crate::telemetry::metrics::Metrics;

    const HEAD_OFFICE: CompanyId = CompanyId::new(Uuid::nil());
    const GET: &[u8] = b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n";

    /// Reads an optional JSON body and sends an answer of 100 KiB.
    struct Echo;

    #[async_trait]
    impl Handler for Echo {
        async fn handle(
            &self,
            req: &mut salvo::Request,
            depot: &mut Depot,
            res: &mut salvo::Response,
            _ctrl: &mut FlowCtrl,
        ) {
            let outcome = handler::run(async {
                body::optional_json(req).await?;
                Ok(Reply::json(StatusCode::OK, "x".repeat(100 * 1024)))
            });
            handler::settle(outcome.await, depot).write(res);
        }
    }

    /// Reads and discards a body of any kind and length.
    struct Discard;

    #[async_trait]
    impl Handler for Discard {
        async fn handle(
            &self,
            req: &mut salvo::Request,
            depot: &mut Depot,
            res: &mut salvo::Response,
            _ctrl: &mut FlowCtrl,
        ) {
            let outcome = handler::run(body::in_time(async {
                let mut body = body::BodyReader::new(req);
                while body.next().await?.is_some() {}
                Ok(Reply::no_content())
            }));
            handler::settle(outcome.await, depot).write(res);
        }
    }

    /// Counts the request, and sends an answer of 100 KiB.
    struct Counted(RequestsInProgress);

    #[async_trait]
    impl Handler for Counted {
        async fn handle(
            &self,
            _req: &mut salvo::Request,
            _depot: &mut Depot,
            res: &mut salvo::Response,
            _ctrl: &mut FlowCtrl,
        ) {
            res.extensions.insert(self.0.begin(HEAD_OFFICE).unwrap());
            Reply::json(StatusCode::OK, "x".repeat(100 * 1024)).write(res);
        }
    }

    /// A connection to a service of two routes, over a pipe with a buffer of `room` bytes.
    fn connect(room: usize) -> DuplexStream {
        let routes = Router::new()
            .push(Router::with_path("echo").get(Echo).post(Echo))
            .push(Router::with_path("discard").post(Discard));
        connect_to(routes, room)
    }

    fn connect_to(routes: Router, room: usize) -> DuplexStream {
        let (clock, ids) = (Arc::new(SystemClock), Arc::new(RandomIds));
        let telemetry = RequestTelemetry {
            metrics: Metrics::new().requests,
            traces: None,
        };
        let service = server::service(routes, "platform", clock, ids, telemetry);
        let (near, far) = duplex(room);
        let nobody = SocketAddr::from(([127, 0, 0, 1], 1));
        let registry = Registry::new(ConnectionLimits::default());
        let (place, evicted) = registry.admit(nobody.into()).unwrap();
        let info = ConnectionInfo {
            local: nobody,
            peer: nobody,
            place,
            evicted,
            peer_end: None,
        };
        tokio::spawn(async move {
            serve(far, info, &service, std::future::pending()).await;
        });
        near
    }

    /// Reads until the other side closes: the bytes, and the seconds until it closed.
    async fn until_closed(stream: &mut DuplexStream, begin: Instant) -> (String, u64) {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        (text, begin.elapsed().as_secs())
    }

    /// Reads one whole answer of `Echo`.
    async fn answer(stream: &mut DuplexStream) -> String {
        let mut text = Vec::new();
        while !text.ends_with(b"xxxx") || text.len() < 100 * 1024 {
            let read = stream.read_buf(&mut text).await.unwrap();
            assert_ne!(read, 0, "closed after {}", String::from_utf8_lossy(&text));
        }
        String::from_utf8(text).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_sends_no_head_is_closed_after_10_seconds() {
        let begin = Instant::now();
        let mut stream = connect(1024);
        assert_eq!(until_closed(&mut stream, begin).await, (String::new(), 10));
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_trickles_is_cut_off_after_10_seconds_on_a_kept_connection_too() {
        let mut stream = connect(1024 * 1024);
        stream.write_all(GET).await.unwrap();
        answer(&mut stream).await;
        sleep(Duration::from_secs(70)).await;
        let begin = Instant::now();
        let (mut reader, mut writer) = tokio::io::split(stream);
        let trickle = async {
            for byte in GET.iter().cycle() {
                if writer.write_all(&[*byte]).await.is_err() {
                    return;
                }
                sleep(Duration::from_secs(1)).await;
            }
        };
        let mut rest = Vec::new();
        tokio::select! {
            () = trickle => {}
            read = reader.read_to_end(&mut rest) => assert_eq!(read.unwrap(), 0),
        }
        assert_eq!(begin.elapsed().as_secs(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn a_kept_connection_may_lie_idle_for_75_seconds() {
        let mut stream = connect(1024 * 1024);
        for _ in 0..3 {
            stream.write_all(GET).await.unwrap();
            answer(&mut stream).await;
            sleep(Duration::from_secs(74)).await;
        }
        stream.write_all(GET).await.unwrap();
        answer(&mut stream).await;
        let begin = Instant::now();
        assert_eq!(until_closed(&mut stream, begin).await, (String::new(), 75));
    }

    /// Sends a body in pieces of `piece` bytes with `pause` between them; returns the answer and
    /// the seconds until it arrived.
    async fn trickle(path: &str, piece: usize, pause: Duration) -> (String, u64) {
        let begin = Instant::now();
        let mut stream = connect(1024 * 1024);
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10000000\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let (mut reader, mut writer) = tokio::io::split(stream);
        let piece = vec![b' '; piece];
        let sending = async {
            while writer.write_all(&piece).await.is_ok() {
                sleep(pause).await;
            }
        };
        let mut answer = String::new();
        tokio::select! {
            () = sending => reader.read_to_string(&mut answer).await,
            read = reader.read_to_string(&mut answer) => read,
        }
        .unwrap();
        (answer, begin.elapsed().as_secs())
    }

    // Contract: error-code-of-ours/REQUEST_TIMEOUT
    #[tokio::test(start_paused = true)]
    async fn a_body_has_60_seconds_however_steadily_it_comes() {
        let (answer, seconds) = trickle("/discard", 10 * 1024, Duration::from_secs(1)).await;
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
        assert!(answer.contains("REQUEST_TIMEOUT"), "{answer}");
        assert!((60..=63).contains(&seconds), "{seconds}");
    }

    // Contract: error-code-of-ours/REQUEST_TIMEOUT
    #[tokio::test(start_paused = true)]
    async fn a_body_slower_than_8_kib_a_second_is_given_up_after_20_seconds() {
        for path in ["/discard", "/echo"] {
            let (answer, seconds) = trickle(path, 7 * 1024, Duration::from_secs(1)).await;
            assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
            assert!(answer.contains("REQUEST_TIMEOUT"), "{answer}");
            assert!((20..=23).contains(&seconds), "{path} {seconds}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_comes_in_bursts_is_as_fast_as_they_are_together() {
        let (answer, seconds) = trickle("/discard", 170 * 1024, Duration::from_secs(19)).await;
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
        assert!((60..=63).contains(&seconds), "{seconds}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_its_answer_is_cut_off_after_30_seconds() {
        let mut stream = connect(1024);
        stream.write_all(GET).await.unwrap();
        sleep(Duration::from_secs(31)).await;
        let (text, _) = until_closed(&mut stream, Instant::now()).await;
        assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
        assert!(text.len() <= 1024, "{}", text.len());
    }

    #[tokio::test]
    async fn a_request_is_in_progress_until_its_answer_is_sent() {
        let requests = RequestsInProgress::new(8);
        let route = Router::with_path("echo").get(Counted(requests.clone()));
        let mut stream = connect_to(route, 1024);
        for _ in 0..2 {
            stream.write_all(GET).await.unwrap();
            let mut beginning = [0; 12];
            stream.read_exact(&mut beginning).await.unwrap();
            assert_eq!(&beginning, b"HTTP/1.1 200");
            assert!(requests.begin(HEAD_OFFICE).is_none());
            answer(&mut stream).await;
            let ended = async {
                while requests.begin(HEAD_OFFICE).is_none() {
                    tokio::task::yield_now().await;
                }
            };
            let timely = tokio::time::timeout(Duration::from_mins(1), ended).await;
            timely.expect("it ends");
        }
    }

    #[tokio::test]
    async fn requests_that_come_at_once_are_answered_one_by_one() {
        let mut stream = connect(1024 * 1024);
        let post = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        let last = b"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        stream
            .write_all(&[GET, post, GET, post, last].concat())
            .await
            .unwrap();
        let (text, _) = until_closed(&mut stream, Instant::now()).await;
        assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 5);
    }

    #[tokio::test]
    async fn a_request_behind_a_chunked_body_waits_or_is_refused() {
        let mut stream = connect(1024 * 1024);
        let chunked = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
        for _ in 0..2 {
            stream.write_all(chunked).await.unwrap();
            assert!(answer(&mut stream).await.starts_with("HTTP/1.1 200 OK"));
        }
        stream.write_all(&[chunked, GET].concat()).await.unwrap();
        let (text, _) = until_closed(&mut stream, Instant::now()).await;
        assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 1);
        assert_eq!(text.matches("HTTP/1.1 400 Bad Request").count(), 1);
    }

    #[tokio::test]
    async fn a_head_may_have_16_kib_and_no_byte_more() {
        for (bytes, status) in [(HEAD_LIMIT_BYTES, "200"), (HEAD_LIMIT_BYTES + 1, "431")] {
            let mut stream = connect(1024 * 1024);
            let head = "GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nPad: \r\n\r\n";
            let pad = "x".repeat(bytes - head.len());
            let head = head.replace("Pad: ", &format!("Pad: {pad}"));
            stream.write_all(head.as_bytes()).await.unwrap();
            let (text, _) = until_closed(&mut stream, Instant::now()).await;
            assert!(text.starts_with(&format!("HTTP/1.1 {status} ")), "{bytes}");
        }
    }
}
