//! TLS: authenticates the connected peer.

use std::io;
use std::sync::Arc;

use preauth_core::port::AttemptError;
use rustls_native_certs::load_native_certs;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{
    self, AlertDescription, CertificateError, ClientConfig, InvalidMessage, PeerIncompatible,
    RootCertStore, crypto::aws_lc_rs,
};

use crate::dispatcher::{EndpointPolicy, Host};

use super::roots::ExtraRoots;

/// Why TLS cannot be used.
#[derive(Debug, Error)]
pub enum TlsError {
    /// No root certificate is trusted.
    #[error("the platform has no root certificates")]
    NoRoots,
    /// TLS cannot be set up.
    #[error("tls cannot be set up")]
    Setup(#[source] rustls::Error),
}

/// Opens TLS connections: 1.2 or 1.3, HTTP/1.1 within.
pub(super) struct Tls(TlsConnector);

impl Tls {
    /// Trusts the platform's roots and these. A lenient policy works without any root, which is
    /// enough for plain HTTP.
    pub(super) fn new(extra: &ExtraRoots, policy: &EndpointPolicy) -> Result<Self, TlsError> {
        let mut roots = RootCertStore::empty();
        // Invalid certificates among the platform's roots are skipped; the others stay trusted.
        roots.add_parsable_certificates(load_native_certs().certs);
        extra.add_to(&mut roots).map_err(TlsError::Setup)?;
        if roots.is_empty() {
            if !policy.is_lenient() {
                return Err(TlsError::NoRoots);
            }
            tracing::warn!(target: "dispatcher", "no root certificates: https will not work");
        }
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Setup)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }

    /// Performs the handshake with a peer that must prove to be `host`.
    pub(super) async fn prove<S>(
        &self,
        stream: S,
        host: &Host,
    ) -> Result<TlsStream<S>, AttemptError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let name = match host {
            Host::Name(name) => ServerName::try_from(name.clone()),
            Host::Address(address) => Ok(ServerName::IpAddress((*address).into())),
        };
        // A validated host name is always a valid server name.
        let name = name.map_err(|_| AttemptError::UrlRefused)?;
        let proven = self.0.connect(name, stream).await;
        proven.map_err(|error| failure(&error))
    }
}

fn failure(error: &io::Error) -> AttemptError {
    let cause = error.to_string();
    tracing::debug!(target: "dispatcher", cause, "not proven");
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    match inner {
        Some(rustls::Error::InvalidCertificate(defect)) => distrust(defect),
        // The peer's first byte does not begin a TLS record.
        Some(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
            AttemptError::NotTls
        }
        Some(
            rustls::Error::AlertReceived(AlertDescription::ProtocolVersion)
            | rustls::Error::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13),
        ) => AttemptError::TlsVersion,
        _ => AttemptError::Tls,
    }
}

fn distrust(defect: &CertificateError) -> AttemptError {
    match defect {
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            AttemptError::CertificateName
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => AttemptError::CertificateExpired,
        // The enum is open; all its other variants mean that the chain is not trusted.
        _ => AttemptError::CertificateUntrusted,
    }
}
