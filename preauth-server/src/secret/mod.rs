//! Everything that must not leak: API keys, signing secrets, master keys, the operator token.

mod abandonment;
mod api_key;
mod census;
mod master_key;
mod operator_token;
mod proof;
mod reencryption;
mod signing;
mod vault;

pub use abandonment::abandon;
pub use api_key::{KeyFragment, MIN_FRAGMENT_CHARACTERS, NewApiKey, NoFragment, hash_of_presented};
pub use census::{Census, census};
pub use master_key::{MasterKeyFileError, MasterKeyId, MasterKeyIdError};
pub use operator_token::{OperatorToken, TokenFileError};
pub use proof::{Missing, ProofError, prove};
pub use reencryption::{Reencrypted, reencrypt};
pub use signing::new_signing_secret;
pub use vault::{Vault, VaultError};
