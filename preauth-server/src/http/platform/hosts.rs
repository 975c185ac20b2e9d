//! The host names under which the private listener answers.
//!
//! A web page can point its own name at this listener, and a browser then lets it read the answers
//! as its own (DNS rebinding). So a request must use a name that no third party can control. Probes
//! and metrics are exempt: their callers use whichever address they have.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use preauth_core::ErrorCode;
use salvo::http::header::HOST;
use salvo::http::uri::Authority;
use salvo::http::{Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, async_trait};
use url::Host;

use crate::http::error::ApiError;
use crate::http::pages::same_origin::BehindTls;
use crate::http::{handler, messages};

use super::{LIVEZ, METRICS, READYZ};

const EXEMPT: [&str; 3] = [LIVEZ, READYZ, METRICS];
const LOCALHOST: &str = "localhost";

/// A layer of the private listener's service that refuses requests under other host names.
#[derive(Clone, Debug)]
pub(super) struct Hosts(Arc<[Host]>);

impl Hosts {
    /// Adds names to the built-in ones.
    pub(super) fn also(listed: Vec<Host>) -> Self {
        Self(listed.into())
    }

    /// Checks the name in the Host header and the one in the target, if there is one.
    fn admit(&self, req: &Request) -> bool {
        let mut headers = req.headers().get_all(HOST).iter();
        let (Some(header), None) = (headers.next(), headers.next()) else {
            return false;
        };
        let header = Authority::try_from(header.as_bytes()).ok();
        let own = local(req).map(|address| address.ip());
        let admits = |authority: &Authority| self.admit_authority(authority, own);
        header.as_ref().is_some_and(admits) && req.uri().authority().is_none_or(admits)
    }

    /// Whether the name in the Host header is a configured one, and no built-in one.
    fn is_listed(req: &Request) -> bool {
        let header = req.headers().get(HOST);
        let authority = header.and_then(|it| Authority::try_from(it.as_bytes()).ok());
        let own = local(req).map(|address| address.ip());
        let is_built_in = |it: &Authority| Self::also(Vec::new()).admit_authority(it, own);
        authority.is_some_and(|it| !is_built_in(&it))
    }

    fn admit_authority(&self, authority: &Authority, own: Option<IpAddr>) -> bool {
        if authority.as_str().contains('@') {
            return false;
        }
        let name = authority.host();
        let Ok(host) = Host::parse(name.strip_suffix('.').unwrap_or(name)) else {
            return false;
        };
        let is_own = |ip: IpAddr| ip.to_canonical().is_loopback() || Some(ip.to_canonical()) == own;
        let is_local = match &host {
            Host::Domain(name) => name == LOCALHOST,
            Host::Ipv4(ip) => is_own((*ip).into()),
            Host::Ipv6(ip) => is_own((*ip).into()),
        };
        is_local || self.0.contains(&host)
    }
}

/// The local address of the connection.
pub(super) fn local(req: &Request) -> Option<SocketAddr> {
    let address = req.local_addr().clone().into_std()?;
    Some(SocketAddr::new(address.ip().to_canonical(), address.port()))
}

#[async_trait]
impl Handler for Hosts {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        if EXEMPT.contains(&req.uri().path()) || self.admit(req) {
            if Self::is_listed(req) {
                req.extensions_mut().insert(BehindTls);
            }
            return;
        }
        let refusal = ApiError::new(ErrorCode::BadRequest).message(messages::WRONG_HOST);
        handler::refuse(refusal, depot, res);
        res.status_code(StatusCode::MISDIRECTED_REQUEST);
        ctrl.skip_rest();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_nobody_else_can_give_out_are_admitted() {
        let listed = ["Platform.Internal", "10.9.9.9"].map(|it| Host::parse(it).unwrap());
        let hosts = Hosts::also(listed.to_vec());
        let own = Some("192.0.2.7".parse().unwrap());
        let admits = |text: &str| {
            let authority = text.parse::<Authority>();
            authority.is_ok_and(|it| hosts.admit_authority(&it, own))
        };
        for right in [
            "localhost",
            "LOCALHOST.:8081",
            "127.0.0.1:8081",
            "127.9.9.9",
            "[::1]:1",
            "[::ffff:127.0.0.1]",
            "192.0.2.7:8081",
            "platform.internal:443",
            "platform.internal.",
            "10.9.9.9",
        ] {
            assert!(admits(right), "{right}");
        }
        for wrong in [
            "evil.example",
            "localhost.evil.example",
            "evil.localhost",
            "127.0.0.1.nip.io",
            "192.0.2.8",
            "internal",
            "x@localhost",
            "a..b",
        ] {
            assert!(!admits(wrong), "{wrong}");
        }
    }
}
