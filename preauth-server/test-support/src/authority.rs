//! A certificate authority for the tests' receivers.

use std::path::Path;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// A root and its key.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    root: rcgen::Certificate,
}

impl Authority {
    /// A new one, which nobody trusts yet.
    #[expect(clippy::new_without_default, reason = "each is another")]
    pub fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new([]).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = parameters.self_signed(&key).unwrap();
        Self {
            issuer: Issuer::new(parameters, key),
            root,
        }
    }

    /// Writes the root certificate to a file, as operators configure it.
    pub fn write(&self, path: &Path) {
        std::fs::write(path, self.root.pem()).unwrap();
    }

    /// A TLS server with a certificate for `name`.
    pub fn proves(&self, name: &str) -> TlsAcceptor {
        self.issue(&CertificateParams::new([name.to_owned()]).unwrap())
    }

    /// A TLS server whose certificate for `name` expired in the last century.
    pub fn proved(&self, name: &str) -> TlsAcceptor {
        let mut parameters = CertificateParams::new([name.to_owned()]).unwrap();
        parameters.not_after = date_time_ymd(2000, 1, 1);
        self.issue(&parameters)
    }

    fn issue(&self, parameters: &CertificateParams) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }
}
