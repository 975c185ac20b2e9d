//! A connection's two directions, and a view of its peer's end.

use std::future::pending;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// A TCP connection whose end can be seen while nobody reads from it.
pub(super) struct Transport {
    reader: Arc<OwnedReadHalf>,
    writer: OwnedWriteHalf,
}

/// An extension of a request: whether its peer has closed the connection, or its sending side.
///
/// The HTTP library does not read while a request is in progress, because a peer that closes its sending side may still
/// want the answer. A request that only waits ends sooner then, and is answered with what there is.
#[derive(Clone, Debug)]
pub(in crate::http) struct PeerEnd(Arc<OwnedReadHalf>);

impl Transport {
    pub(super) fn new(stream: TcpStream) -> Self {
        let (reader, writer) = stream.into_split();
        Self {
            reader: Arc::new(reader),
            writer,
        }
    }

    pub(super) fn peer_end(&self) -> PeerEnd {
        PeerEnd(Arc::clone(&self.reader))
    }
}

impl PeerEnd {
    /// Completes when the peer has closed the connection or its sending side; never without a peer.
    pub(in crate::http) async fn of(peer: Option<Self>) {
        let Some(Self(reader)) = peer else {
            return pending().await;
        };
        let stream: &TcpStream = (*reader).as_ref();
        // Bytes of a next request hide an end behind them.
        if let Ok(1..) = stream.peek(&mut [0]).await {
            pending::<()>().await;
        }
    }
}

impl AsyncRead for Transport {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream: &TcpStream = (*self.reader).as_ref();
        loop {
            ready!(stream.poll_read_ready(cx))?;
            match stream.try_read(buf.initialize_unfilled()) {
                Ok(read) => {
                    buf.advance(read);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.writer).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.writer).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.writer.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn the_end_of_a_peer_is_seen_without_reading_and_behind_bytes_it_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut peer = TcpStream::connect(address).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let mut transport = Transport::new(stream);
        let brief = Duration::from_millis(50);
        let end = || PeerEnd::of(Some(transport.peer_end()));
        assert!(timeout(brief, end()).await.is_err());
        peer.write_all(b"ab").await.unwrap();
        peer.shutdown().await.unwrap();
        assert!(timeout(brief, end()).await.is_err());
        let mut bytes = [0; 2];
        transport.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"ab");
        PeerEnd::of(Some(transport.peer_end())).await;
        transport.write_all(b"answer").await.unwrap();
        drop(transport);
        let mut answer = String::new();
        peer.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer, "answer");
        assert!(timeout(brief, PeerEnd::of(None)).await.is_err());
    }
}
