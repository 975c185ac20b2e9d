//! Command line and server prove to each other that they hold the operator token, before either
//! sends the other anything.
//!
//! The caller proves it first, so that an unauthenticated caller gets nothing from which to guess
//! the token. The server's proof includes the requested host name and the address that it answers
//! at: a server that only forwards a challenge to the real one answers at another address. The
//! caller then presents a token that is valid for this process of the server alone, so that a
//! process which takes over its port cannot use it.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use hmac::{Hmac, KeyInit, Mac};
use secrecy::zeroize::Zeroizing;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::ids::random_bytes;

use super::OperatorToken;

/// The path of the private listener that answers challenges.
pub const HANDSHAKE_PATH: &str = "/handshake";
/// The header of the challenge.
pub const CHALLENGE_HEADER: &str = "x-preauth-challenge";
/// Prefix of the token after a handshake.
const SESSION_PREFIX: &str = "preauth_session_";

const BYTES: usize = 32;
type Bytes = [u8; BYTES];

const CALLER: &[u8] = b"preauth handshake 1: caller";
const SERVER: &[u8] = b"preauth handshake 1: server";
const SESSION: &[u8] = b"preauth handshake 1: session";

/// A caller's challenge: a nonce, and the proof that it holds the token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Challenge {
    nonce: Bytes,
    mac: Bytes,
}

/// The text is not a challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoChallenge;

/// One process of a server; every start generates another.
#[derive(Clone, Copy, Debug)]
pub struct Instance(Bytes);

/// A server's answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Proof {
    instance: String,
    /// The address at which it accepted the connection.
    pub address: SocketAddr,
    mac: String,
}

impl Instance {
    /// This process.
    #[must_use]
    pub fn random() -> Self {
        Self(random_bytes())
    }

    /// The token that a caller with `token` presents to this process.
    #[must_use]
    pub(super) fn session(&self, token: &OperatorToken) -> OperatorToken {
        let mac = Zeroizing::new(mac(token, SESSION, &[&self.0]));
        let text = Zeroizing::new(format!("{SESSION_PREFIX}{}", hex::encode(*mac)));
        OperatorToken::of(&text)
    }
}

impl Challenge {
    /// A challenge to the server that is reached as `host`.
    #[must_use]
    pub fn new(token: &OperatorToken, host: &str) -> Self {
        let nonce = random_bytes();
        let mac = mac(token, CALLER, &[&nonce, host.as_bytes()]);
        Self { nonce, mac }
    }

    /// The answer of a server that was reached as `host` and accepted the connection at `address`;
    /// `None` when the caller does not hold the token.
    #[must_use]
    pub fn answer(
        &self,
        token: &OperatorToken,
        host: &str,
        address: SocketAddr,
        instance: Instance,
    ) -> Option<Proof> {
        let expected = mac(token, CALLER, &[&self.nonce, host.as_bytes()]);
        let is_proven: bool = expected.ct_eq(&self.mac).into();
        is_proven.then(|| Proof {
            instance: hex::encode(instance.0),
            address,
            mac: hex::encode(self.server_mac(token, host, address, instance)),
        })
    }

    /// The token for the server that sent this proof; `None` when the proof is invalid.
    #[must_use]
    pub fn session(
        &self,
        token: &OperatorToken,
        host: &str,
        proof: &Proof,
    ) -> Option<OperatorToken> {
        let instance = Instance(bytes(&proof.instance)?);
        let given = bytes(&proof.mac)?;
        let expected = self.server_mac(token, host, proof.address, instance);
        let is_proven: bool = expected.ct_eq(&given).into();
        is_proven.then(|| instance.session(token))
    }

    fn server_mac(
        &self,
        token: &OperatorToken,
        host: &str,
        address: SocketAddr,
        instance: Instance,
    ) -> Bytes {
        let address = address.to_string();
        let parts = [
            &self.nonce[..],
            host.as_bytes(),
            address.as_bytes(),
            &instance.0,
        ];
        mac(token, SERVER, &parts)
    }
}

/// HMAC-SHA256 under the token; the length of each part precedes it, so that different lists
/// differ.
fn mac(token: &OperatorToken, purpose: &[u8], parts: &[&[u8]]) -> Bytes {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(token.expose().as_bytes()).expect("any length");
    for part in [purpose].iter().chain(parts) {
        mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn bytes(text: &str) -> Option<Bytes> {
    let mut bytes = [0; BYTES];
    hex::decode_to_slice(text, &mut bytes).ok()?;
    Some(bytes)
}

impl fmt::Display for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", hex::encode(self.nonce), hex::encode(self.mac))
    }
}

impl FromStr for Challenge {
    type Err = NoChallenge;

    fn from_str(text: &str) -> Result<Self, NoChallenge> {
        let (nonce, mac) = text.split_once(' ').ok_or(NoChallenge)?;
        let nonce = bytes(nonce).ok_or(NoChallenge)?;
        let mac = bytes(mac).ok_or(NoChallenge)?;
        Ok(Self { nonce, mac })
    }
}

impl fmt::Debug for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Challenge(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "127.0.0.1:8081";

    fn token(text: &str) -> OperatorToken {
        OperatorToken::parse(text).unwrap()
    }

    #[test]
    fn both_sides_that_hold_the_token_agree_on_a_session() {
        let (token, instance) = (token("0123456789abcdef"), Instance::random());
        let challenge = Challenge::new(&token, HOST);
        let sent: Challenge = challenge.to_string().parse().unwrap();
        let address = HOST.parse().unwrap();
        let proof = sent.answer(&token, HOST, address, instance).unwrap();
        let session = challenge.session(&token, HOST, &proof).unwrap();
        assert_eq!(session.expose(), instance.session(&token).expose());
        assert_ne!(
            session.expose(),
            Instance::random().session(&token).expose()
        );
    }

    #[test]
    fn a_caller_without_the_token_gets_no_proof() {
        let challenge = Challenge::new(&token("another-token-of-ours"), HOST);
        let ours = token("0123456789abcdef");
        let address = HOST.parse().unwrap();
        let instance = Instance::random();
        assert!(challenge.answer(&ours, HOST, address, instance).is_none());
        let replayed = Challenge::new(&ours, HOST);
        let elsewhere = replayed.answer(&ours, "evil.example", address, instance);
        assert!(elsewhere.is_none());
    }

    #[test]
    fn a_proof_holds_for_one_question_one_host_and_one_address() {
        let (token, instance) = (token("0123456789abcdef"), Instance::random());
        let challenge = Challenge::new(&token, HOST);
        let address: SocketAddr = HOST.parse().unwrap();
        let proof = challenge.answer(&token, HOST, address, instance).unwrap();
        let again = Challenge::new(&token, HOST);
        assert!(again.session(&token, HOST, &proof).is_none());
        assert!(
            challenge
                .session(&token, "localhost:8081", &proof)
                .is_none()
        );
        let moved = Proof {
            address: "127.0.0.1:9".parse().unwrap(),
            ..proof.clone()
        };
        assert!(challenge.session(&token, HOST, &moved).is_none());
        let renamed = Proof {
            instance: hex::encode([7; BYTES]),
            ..proof
        };
        assert!(challenge.session(&token, HOST, &renamed).is_none());
        for text in ["", "00", "00 00", &"0".repeat(129)] {
            assert_eq!(text.parse::<Challenge>(), Err(NoChallenge));
        }
    }
}
