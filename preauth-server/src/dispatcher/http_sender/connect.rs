//! Connects a socket to one of the checked addresses.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use preauth_core::port::AttemptError;
use tokio::net::TcpStream;

use crate::dispatcher::endpoint_validator::EndpointValidator;

use super::meter::{Meter, Metered};

/// Delay before the next address is tried in parallel.
const HEAD_START: Duration = Duration::from_millis(250);

/// Maximum number of addresses tried. A name's owner could list thousands, and make this server
/// connect to other people's hosts.
const MAX_TRIED: usize = 8;

/// Connects to the first address that answers, which is returned, and counts all bytes.
///
/// The address of the connected peer is checked last, in addition to all earlier checks.
pub(super) async fn to_any(
    addresses: &[IpAddr],
    port: u16,
    validator: &EndpointValidator,
) -> Result<(Metered<TcpStream>, Meter, IpAddr), AttemptError> {
    let stream = first(addresses, port)
        .await
        .map_err(|error| failure(&error))?;
    let peer = stream.peer_addr().map_err(|error| failure(&error))?.ip();
    if !validator.allows(peer) {
        return Err(AttemptError::AddressRefused);
    }
    // A request is one write, so waiting for more data gains nothing.
    stream.set_nodelay(true).map_err(|error| failure(&error))?;
    let meter = Meter::new();
    Ok((Metered::new(stream, meter.clone()), meter, peer))
}

async fn first(addresses: &[IpAddr], port: u16) -> io::Result<TcpStream> {
    let mut waiting = addresses.iter().take(MAX_TRIED);
    let mut under_way = FuturesUnordered::new();
    let mut last_error = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        let next = waiting.next();
        match next {
            Some(address) => under_way.push(TcpStream::connect(SocketAddr::new(*address, port))),
            None if under_way.is_empty() => return Err(last_error),
            None => {}
        }
        let head_start = async {
            match next {
                Some(_) => tokio::time::sleep(HEAD_START).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some(outcome) = under_way.next() => match outcome {
                Ok(stream) => return Ok(stream),
                Err(error) => last_error = error,
            },
            () = head_start => {}
        }
    }
}

fn failure(error: &io::Error) -> AttemptError {
    let cause = error.to_string();
    tracing::debug!(target: "dispatcher", cause, "not connected");
    match error.kind() {
        io::ErrorKind::ConnectionRefused => AttemptError::ConnectionRefused,
        io::ErrorKind::TimedOut => AttemptError::ConnectTimedOut,
        _ => AttemptError::Unreachable,
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use preauth_core::port::AttemptError;
    use tokio::net::TcpListener;

    use super::{MAX_TRIED, to_any};
    use crate::dispatcher::{EndpointPolicy, EndpointValidator};

    fn addresses(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[tokio::test]
    async fn an_address_that_refuses_gives_way_to_the_next_one() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let validator = EndpointValidator::by_system(EndpointPolicy::sandbox());
        let both = addresses(&["127.0.0.3", "127.0.0.2", "127.0.0.1"]);
        assert!(to_any(&both, port, &validator).await.is_ok());
        let none = to_any(&addresses(&["127.0.0.3"]), port, &validator).await;
        assert_eq!(none.err(), Some(AttemptError::ConnectionRefused));
    }

    #[tokio::test]
    async fn only_so_many_addresses_are_tried() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let validator = EndpointValidator::by_system(EndpointPolicy::sandbox());
        // The other addresses have no listener.
        let mut many: Vec<_> = (2..).take(MAX_TRIED - 1).map(loopback).collect();
        many.push(loopback(1));
        assert!(to_any(&many, port, &validator).await.is_ok());
        many.insert(0, loopback(99));
        let tried = to_any(&many, port, &validator).await;
        assert_eq!(tried.err(), Some(AttemptError::ConnectionRefused));
    }

    fn loopback(last: u8) -> IpAddr {
        [127, 0, 0, last].into()
    }

    #[tokio::test]
    async fn whom_the_socket_is_connected_to_is_validated_last() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        // The address comes straight to this step, without the earlier checks.
        let validator = EndpointValidator::by_system(EndpointPolicy::public());
        let connected = to_any(&addresses(&["127.0.0.1"]), port, &validator).await;
        assert_eq!(connected.err(), Some(AttemptError::AddressRefused));
    }
}
