//! Builds the request of one attempt: the immutable body with a fresh signature.

use preauth_core::port::Leased;
use preauth_core::value::{EventId, Timestamp};
use secrecy::ExposeSecret;
use thiserror::Error;
use webhook_verify::{
    EVENT_ID_HEADER, EVENT_TYPE_HEADER, SIGNATURE_HEADER, Secret, SecretError, SignError, sign,
};

use crate::secret::{Vault, VaultError};

use super::sender::Request;

/// Maximum number of secrets that sign one delivery: verifiers check no more.
const MAX_SECRETS: usize = 8;

/// Identifies this server in the receivers' logs.
const USER_AGENT: &str = concat!("preauth/", env!("CARGO_PKG_VERSION"));

/// Why a delivery could not be signed.
#[derive(Debug, Error)]
pub(super) enum SigningError {
    #[error("secret could not be opened")]
    Sealed(#[from] VaultError),
    #[error("secret is not one")]
    Form(#[from] SecretError),
    #[error("body could not be signed")]
    Sign(#[from] SignError),
}

/// Builds the request of an attempt at `now` (contract, "Delivery" and "Signature").
///
/// All secrets in force sign, newest first. If one of them cannot be decrypted the attempt fails,
/// because it may be the only secret that the receiver knows.
pub(super) fn signed_request(
    leased: &Leased,
    vault: &Vault,
    now: Timestamp,
) -> Result<Request, SigningError> {
    let sealed = leased.sealed_secrets.iter().take(MAX_SECRETS);
    let secrets = sealed
        .map(|sealed| {
            let clear = vault.unseal(leased.endpoint, sealed)?;
            Ok(Secret::parse(clear.expose_secret())?)
        })
        .collect::<Result<Vec<_>, SigningError>>()?;
    let signature = sign(&secrets, now.unix_seconds(), leased.body.as_bytes())?;
    let [content_type, event_id, event_type, user_agent] =
        sent_headers(leased.event, &leased.event_type);
    Ok(Request {
        url: leased.url.clone(),
        headers: vec![
            content_type,
            (SIGNATURE_HEADER, signature),
            event_id,
            event_type,
            user_agent,
        ],
        body: leased.body.clone(),
    })
}

/// The headers of every attempt for an event, except the signature.
pub(crate) fn sent_headers(event: EventId, event_type: &str) -> [(&'static str, String); 4] {
    [
        ("content-type", "application/json".to_owned()),
        (EVENT_ID_HEADER, event.to_string()),
        (EVENT_TYPE_HEADER, event_type.to_owned()),
        ("user-agent", USER_AGENT.to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use preauth_core::port::{Leased, Trigger};
    use preauth_core::value::{DeliveryId, EndpointId, EventId, Timestamp};
    use secrecy::SecretString;
    use uuid::Uuid;
    use webhook_verify::{Secret, Verifier};

    use super::signed_request;
    use crate::secret::Vault;

    fn secret(number: usize) -> String {
        format!("whsec_0123456789abcdef-{number}")
    }

    fn leased(vault: &Vault, secrets: usize) -> Leased {
        let endpoint = EndpointId::new(Uuid::from_u128(1));
        let seal = |number| {
            let sealed = vault.seal(endpoint, &SecretString::from(secret(number)));
            sealed.unwrap().0
        };
        Leased {
            delivery: DeliveryId::new(Uuid::from_u128(2)),
            token: 1,
            event: EventId::new(Uuid::from_u128(3)),
            event_type: "webhook.test".to_owned(),
            body: "{}".to_owned(),
            endpoint,
            url: "https://hooks.example.com/".to_owned(),
            sealed_secrets: (0..secrets).map(seal).collect(),
            attempts_made: 0,
            endpoint_healthy_at: Timestamp::MIN,
            endpoint_is_slow: false,
            trigger: Trigger::Schedule,
        }
    }

    fn now() -> Timestamp {
        Timestamp::parse("2026-11-21T12:00:00Z").unwrap()
    }

    #[test]
    fn every_secret_in_force_signs_newest_first_and_no_more_than_eight() {
        let vault = Vault::new(&[7; 32]);
        for (secrets, signatures) in [(1, 1), (2, 2), (8, 8), (9, 8)] {
            let request = signed_request(&leased(&vault, secrets), &vault, now()).unwrap();
            let signature = &request.headers[1].1;
            assert_eq!(signature.matches(",v1=").count(), signatures);
            for number in 0..signatures {
                let verifier = Verifier::new(Secret::parse(&secret(number)).unwrap());
                let unix_seconds = now().unix_seconds();
                verifier
                    .verify(Some(signature.as_bytes()), b"{}", unix_seconds)
                    .unwrap();
            }
        }
    }

    #[test]
    fn nothing_is_signed_without_every_secret() {
        let (vault, other) = (Vault::new(&[7; 32]), Vault::new(&[8; 32]));
        assert!(signed_request(&leased(&vault, 0), &vault, now()).is_err());
        let mut mixed = leased(&vault, 1);
        mixed
            .sealed_secrets
            .extend(leased(&other, 1).sealed_secrets);
        assert!(signed_request(&mixed, &vault, now()).is_err());
    }
}
