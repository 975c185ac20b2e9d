//! Root certificates that an operator adds to the platform's.

use std::io;
use std::path::Path;

use thiserror::Error;
use tokio_rustls::rustls::RootCertStore;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};

use crate::files;

/// Certificates trusted to issue those of receivers, in addition to the platform's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtraRoots(Vec<CertificateDer<'static>>);

/// Why a file contains no usable certificates.
#[derive(Debug, Error)]
pub enum RootsError {
    /// It cannot be read.
    #[error("cannot be read")]
    Unreadable(#[source] io::Error),
    /// It is not PEM.
    #[error("is not in PEM form: {0}")]
    NotPem(pem::Error),
    /// It contains no certificate.
    #[error("holds no certificate")]
    Empty,
    /// One of its certificates cannot be a root.
    #[error("holds a certificate that cannot be understood: {0}")]
    NotCertificate(tokio_rustls::rustls::Error),
}

impl ExtraRoots {
    /// Reads the certificates of a PEM file; other items are skipped.
    pub fn open(path: &Path) -> Result<Self, RootsError> {
        let text = files::read_authentic(path).map_err(RootsError::Unreadable)?;
        Self::parse(text.as_bytes())
    }

    fn parse(text: &[u8]) -> Result<Self, RootsError> {
        let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
        let roots = Self(certificates.map_err(RootsError::NotPem)?);
        if roots.0.is_empty() {
            return Err(RootsError::Empty);
        }
        let mut store = RootCertStore::empty();
        roots
            .add_to(&mut store)
            .map_err(RootsError::NotCertificate)?;
        Ok(roots)
    }

    pub(super) fn add_to(
        &self,
        store: &mut RootCertStore,
    ) -> Result<(), tokio_rustls::rustls::Error> {
        let mut roots = self.0.iter().cloned();
        roots.try_for_each(|root| store.add(root))
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair};

    use super::{ExtraRoots, RootsError};

    fn certificate() -> String {
        let key = KeyPair::generate().unwrap();
        let parameters = CertificateParams::new(["receiver.test".to_owned()]).unwrap();
        parameters.self_signed(&key).unwrap().pem()
    }

    #[test]
    fn every_certificate_of_a_file_is_a_root() {
        let two = format!("a comment\n{}{}", certificate(), certificate());
        assert_eq!(ExtraRoots::parse(two.as_bytes()).unwrap().0.len(), 2);
    }

    #[test]
    fn a_file_without_a_usable_certificate_is_refused() {
        let parse = |text: &str| ExtraRoots::parse(text.as_bytes()).unwrap_err();
        assert!(matches!(parse("none\n"), RootsError::Empty));
        let broken = certificate().replace("-----END CERTIFICATE-----", "");
        assert!(matches!(parse(&broken), RootsError::NotPem(_)));
        let other = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(matches!(parse(other), RootsError::NotCertificate(_)));
        let missing = ExtraRoots::open("/nowhere/roots.pem".as_ref()).unwrap_err();
        assert!(matches!(missing, RootsError::Unreadable(_)));
    }
}
