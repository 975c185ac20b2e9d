//! The operator tokens that a server accepts: one, or two while one replaces the other.

use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, Ordering};

use hmac::{Hmac, KeyInit, Mac};
use preauth_core::value::Timestamp;
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::OperatorToken;
use super::handshake::{Challenge, Instance, NamedSession, Proof, SharedKey};
use crate::access::{HashBeginning, KeyHash, NamedToken};

/// Minimum time between two log lines about the use of a token.
const NOTED_AGAIN_AFTER_MS: i64 = 60 * 60 * 1000;
const NEVER: i64 = i64::MIN;
const SEAL: &[u8] = b"preauth console 1: root";

/// The tokens that a server accepts.
pub struct OperatorTokens {
    slots: Vec<Slot>,
    instance: Instance,
}

/// The token of a caller that may be a named operator.
#[derive(Debug)]
pub enum Named {
    /// The token.
    Token(NamedToken),
    /// The form that a handshake gave it.
    Session(NamedSession),
}

impl Named {
    /// Reads a presented credential; `None` when it has another form.
    #[must_use]
    pub fn parse(presented: &str) -> Option<Self> {
        let token = NamedToken::parse(presented).map(Self::Token);
        token.or_else(|| NamedSession::parse(presented).map(Self::Session))
    }

    /// Which token it is.
    #[must_use]
    pub fn beginning(&self) -> HashBeginning {
        match self {
            Self::Token(token) => token.hash().beginning(),
            Self::Session(session) => session.named(),
        }
    }
}

/// A token, and its equivalent in this process.
struct Slot {
    /// The name of its setting.
    name: &'static str,
    token: OperatorToken,
    session: OperatorToken,
    /// When its use was logged last, in Unix milliseconds.
    noted_at: AtomicI64,
}

impl OperatorTokens {
    /// The current token and, during a replacement, the next one.
    #[must_use]
    pub fn new(token: OperatorToken, next: Option<OperatorToken>) -> Self {
        let instance = Instance::random();
        let present = [("platform_token", token)];
        let next = next.map(|token| ("platform_token_next", token));
        let slot = |(name, token)| Slot {
            name,
            session: instance.session(&token),
            token,
            noted_at: AtomicI64::new(NEVER),
        };
        let slots = present.into_iter().chain(next).map(slot).collect();
        Self { slots, instance }
    }

    /// Whether `presented` is accepted. It is compared with every token, also after a match.
    #[must_use]
    pub fn admit(&self, presented: &str, now: Timestamp) -> bool {
        let mut admitting = None;
        for slot in &self.slots {
            if slot.token.admits(presented) | slot.session.admits(presented) {
                admitting = Some(slot);
            }
        }
        self.note(admitting, now)
    }

    /// Whether a credential is the token with this hash.
    #[must_use]
    pub fn admit_named(&self, presented: &Named, hash: &KeyHash) -> bool {
        match presented {
            Named::Token(token) => token.hash().0.ct_eq(&hash.0).into(),
            Named::Session(session) => self.instance.opens(session, hash),
        }
    }

    /// Whether `proof` is that of one of the tokens, see [`OperatorTokens::seal`].
    #[must_use]
    pub fn admit_sealed(&self, secret: &[u8], proof: &[u8; 32]) -> bool {
        let tokens = self.slots.iter().map(|slot| slot.token.expose());
        let mut is_admitted = false;
        for token in tokens {
            let own = Self::seal(secret, token);
            is_admitted |= own.is_some_and(|own| own.ct_eq(proof).into());
        }
        is_admitted
    }

    /// The proof, under the secret of a session, that it was opened with this token. Without the secret
    /// nothing can be guessed from it.
    #[must_use]
    pub fn seal(secret: &[u8], presented: &str) -> Option<[u8; 32]> {
        let mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
        let mac = mac.chain_update(SEAL).chain_update(presented);
        Some(mac.finalize().into_bytes().into())
    }

    /// The answer to a caller that holds one of the tokens.
    #[must_use]
    pub fn prove(&self, challenge: &Challenge, host: &str, address: SocketAddr) -> Option<Proof> {
        let answers = self.slots.iter().map(|slot| {
            challenge.answer(&SharedKey::of(&slot.token), host, address, self.instance)
        });
        // Every token computes an answer, also after a match.
        answers.fold(None, Option::or)
    }

    /// The answer to a caller that holds the named operator's token with this hash.
    #[must_use]
    pub fn prove_named(
        &self,
        challenge: &Challenge,
        hash: &KeyHash,
        host: &str,
        address: SocketAddr,
    ) -> Option<Proof> {
        challenge.answer(&SharedKey::from(hash), host, address, self.instance)
    }

    /// During a replacement, the log shows which token is still used.
    fn note(&self, admitting: Option<&Slot>, now: Timestamp) -> bool {
        let Some(slot) = admitting else { return false };
        if self.slots.len() > 1 && slot.is_to_be_noted(now.unix_millis()) {
            tracing::info!(target: "operator_token", token = slot.name, "used within this hour");
        }
        true
    }
}

impl Slot {
    fn is_to_be_noted(&self, now_ms: i64) -> bool {
        let noted_at = self.noted_at.load(Ordering::Relaxed);
        let is_due = noted_at == NEVER || now_ms.saturating_sub(noted_at) >= NOTED_AGAIN_AFTER_MS;
        is_due
            && self
                .noted_at
                .compare_exchange(noted_at, now_ms, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }
}

impl From<OperatorToken> for OperatorTokens {
    fn from(token: OperatorToken) -> Self {
        Self::new(token, None)
    }
}

impl fmt::Debug for OperatorTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OperatorTokens(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> OperatorToken {
        OperatorToken::parse(text).unwrap()
    }

    #[test]
    fn two_tokens_are_accepted_and_no_third_one() {
        let tokens = OperatorTokens::new(
            token("the-token-in-force"),
            Some(token("the-token-to-come")),
        );
        let now = Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap();
        for right in ["the-token-in-force", "the-token-to-come"] {
            assert!(tokens.admit(right, now), "{right}");
        }
        for wrong in [
            "",
            "the-token-in-forcE",
            "the-token-to-com",
            "preauth_session_",
        ] {
            assert!(!tokens.admit(wrong, now), "{wrong}");
        }
    }

    #[test]
    fn a_session_of_this_process_is_accepted_and_one_of_another_is_not() {
        let given = token("the-token-in-force");
        let (one, other) = (
            OperatorTokens::new(given.clone(), None),
            OperatorTokens::new(given.clone(), None),
        );
        let now = Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap();
        let address = "127.0.0.1:8081".parse().unwrap();
        let challenge = Challenge::new(&given, "localhost:8081");
        let proof = one.prove(&challenge, "localhost:8081", address).unwrap();
        let session = challenge.session(&given, "localhost:8081", &proof).unwrap();
        assert!(one.admit(session.expose(), now));
        assert!(!other.admit(session.expose(), now));
    }

    #[test]
    fn the_use_of_a_token_is_noted_once_an_hour() {
        let tokens = OperatorTokens::new(token("the-token-in-force"), None);
        let slot = &tokens.slots[0];
        let hour = NOTED_AGAIN_AFTER_MS;
        let noted = [0, 1, hour - 1, hour, hour + 1].map(|now| slot.is_to_be_noted(now));
        assert_eq!(noted, [true, false, false, true, false]);
    }
}
