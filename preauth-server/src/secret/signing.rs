//! Signing secrets of webhook endpoints (contract, "Endpoint registration rules").

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::SecretString;

use crate::ids::random_bytes;

/// Generates a signing secret: `whsec_` and 32 random bytes in 43 base64url characters.
#[must_use]
pub fn new_signing_secret() -> SecretString {
    format!("whsec_{}", URL_SAFE_NO_PAD.encode(random_bytes::<32>())).into()
}
