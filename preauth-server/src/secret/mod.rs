//! Everything that must not leak: API keys, signing secrets, the operator token.

mod api_key;
mod operator_token;
mod proof;
mod signing;
mod vault;

pub use api_key::{NewApiKey, hash_of_presented};
pub use operator_token::{OperatorToken, TokenFileError};
pub use proof::{ProofError, prove};
pub use signing::new_signing_secret;
pub use vault::{Vault, VaultError};
