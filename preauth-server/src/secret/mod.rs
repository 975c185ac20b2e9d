//! Secrets: signing secrets, master keys, the operator token.

mod abandonment;
mod cursor;
mod derived_key;
mod event_cursors;
mod handshake;
mod key_check;
mod key_usage;
mod master_key;
mod operator_token;
mod operator_tokens;
mod reencryption;
mod resend_cursors;
mod sealed_address;
mod signing;
mod supplier_links;
mod vault;

pub use abandonment::abandon;
pub use event_cursors::EventCursors;
pub use handshake::{
    CHALLENGE_HEADER, Challenge, HANDSHAKE_PATH, Instance, NamedSession, NoChallenge, Proof,
    SharedKey,
};
pub use key_check::{
    KeyCheckError, Missing, MissingKeys, check_keys, check_no_key_is_needed, try_secrets,
};
pub use key_usage::{KeyUsage, key_usage};
pub use master_key::{MasterKeyFileError, MasterKeyId, MasterKeyIdError};
pub use operator_token::{OperatorToken, TokenFileError};
pub use operator_tokens::{Named, OperatorTokens};
pub use reencryption::{Reencrypted, reencrypt};
pub use resend_cursors::ResendCursors;
pub use signing::new_signing_secret;
pub use supplier_links::{SupplierLinks, SupplierPage};
pub use vault::{Vault, VaultError};
