//! A master key is proved before anything is served: a wrong one would fail deliveries one by one.

use preauth_core::port::Unavailable;
use thiserror::Error;

use crate::directory::Endpoints;

use super::Vault;

/// Why a master key was not proved.
#[derive(Debug, Error)]
pub enum ProofError {
    /// The database's secrets were sealed under another key.
    #[error(
        "the signing secrets in this database were sealed with another master key; restore the \
         master.key that belongs to this database from its backup"
    )]
    OtherKey,
    /// The database could not be read.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// Opens a secret of the database, if it holds any.
pub async fn prove<E: Endpoints + ?Sized>(vault: &Vault, endpoints: &E) -> Result<(), ProofError> {
    let Some((endpoint, sealed)) = endpoints.any_sealed_secret().await? else {
        return Ok(());
    };
    vault
        .unseal(endpoint, &sealed.0)
        .map(drop)
        .map_err(|_| ProofError::OtherKey)
}
