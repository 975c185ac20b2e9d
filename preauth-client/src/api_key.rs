//! The API key, which authenticates the caller.

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

use crate::ConfigError;

/// The prefix of every API key.
/// [Contract, "Authentication"](https://example.com/preauth/blob/main/docs/reference.md#authentication).
const PREFIX: &str = "service_sk_";

/// Validates a key and builds the value of `Authorization`, marked as sensitive.
///
/// The prefix is required so that another secret, configured here by mistake, is never sent.
pub(crate) fn authorization(key: &SecretString) -> Result<HeaderValue, ConfigError> {
    let key = key.expose_secret();
    if !key.starts_with(PREFIX) {
        return Err(ConfigError::ApiKeyPrefix);
    }
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(ConfigError::ApiKeyCharacters);
    }
    let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
        .map_err(|_| ConfigError::ApiKeyCharacters)?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validate(key: &str) -> Result<HeaderValue, ConfigError> {
        authorization(&SecretString::from(key))
    }

    #[test]
    fn a_key_becomes_a_header_that_debug_hides() {
        let value = validate("service_sk_abc").unwrap();
        assert_eq!(value.to_str().unwrap(), "Bearer service_sk_abc");
        assert_eq!(format!("{value:?}"), "Sensitive");
    }

    #[test]
    fn a_malformed_api_key_is_refused_before_it_is_sent() {
        for key in ["", "whsec_abc", "Bearer service_sk_abc", " service_sk_abc"] {
            assert!(
                matches!(validate(key), Err(ConfigError::ApiKeyPrefix)),
                "{key}"
            );
        }
        for key in ["service_sk_a b", "service_sk_a\n", "service_sk_\u{e9}"] {
            let validated = validate(key);
            assert!(
                matches!(validated, Err(ConfigError::ApiKeyCharacters)),
                "{key}"
            );
        }
    }
}
