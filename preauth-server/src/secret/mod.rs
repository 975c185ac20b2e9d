//! Everything that must not leak: API keys, signing secrets, the operator token.

mod api_key;
mod operator_token;
mod signing;
mod vault;

pub use api_key::{NewApiKey, hash_of_presented};
pub use operator_token::OperatorToken;
pub use signing::new_signing_secret;
pub use vault::{Vault, VaultError};
