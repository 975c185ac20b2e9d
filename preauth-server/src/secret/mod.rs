//! Everything that must not leak: API keys, signing secrets, master keys, the operator token.

mod abandonment;
mod api_key;
mod census;
mod handshake;
mod master_key;
mod operator_token;
mod operator_tokens;
mod proof;
mod reencryption;
mod signing;
mod vault;

pub use abandonment::abandon;
pub use api_key::{KeyFragment, MIN_FRAGMENT_CHARACTERS, NewApiKey, NoFragment, hash_of_presented};
pub use census::{Census, census};
pub use handshake::{CHALLENGE_HEADER, Challenge, HANDSHAKE_PATH, Instance, NoChallenge, Proof};
pub use master_key::{MasterKeyFileError, MasterKeyId, MasterKeyIdError};
pub use operator_token::{OperatorToken, TokenFileError};
pub use operator_tokens::OperatorTokens;
pub use proof::{Missing, ProofError, prove};
pub use reencryption::{Reencrypted, reencrypt};
pub use signing::new_signing_secret;
pub use vault::{Vault, VaultError};
