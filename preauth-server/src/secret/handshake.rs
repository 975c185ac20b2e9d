//! Command line and server prove to each other that they hold the operator token, before either
//! sends the other anything.
//!
//! The shared key is the token itself; of a named operator's token, of which the server keeps only the
//! hash, it is that hash.
//!
//! The caller proves it first, so that an unauthenticated caller gets nothing from which to guess
//! the token. The server's proof includes the requested host name and the address that it answers
//! at: a server that only forwards a challenge to the real one answers at another address. The
//! caller then presents a token that is valid for this process of the server alone, so that a
//! process which takes over its port cannot use it. That of a named operator is the token itself, masked
//! under the hash: who has read the hash in the database cannot act as the operator.

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
use crate::access::{HashBeginning, KeyHash, NamedToken, RandomPart};

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
    /// Which token; a text that is no named operator's token is tried without.
    named: Option<HashBeginning>,
}

/// The secret that both sides of a handshake know.
pub struct SharedKey(Zeroizing<Vec<u8>>);

/// The token as a named operator's command line presents it after a handshake.
pub struct NamedSession {
    named: HashBeginning,
    masked: RandomPart,
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
        let mac = self.session_mac(&SharedKey::of(token));
        let text = match NamedToken::parse(token.expose()) {
            None => format!("{SESSION_PREFIX}{}", hex::encode(*mac)),
            Some(named) => {
                let masked = masked(named.random(), &mac);
                let HashBeginning(beginning) = named.hash().beginning();
                let (beginning, masked) = (hex::encode(beginning), hex::encode(*masked));
                format!("{SESSION_PREFIX}{beginning}_{masked}")
            }
        };
        OperatorToken::of(&Zeroizing::new(text))
    }

    /// Whether a session holds the token with this hash.
    pub(super) fn opens(&self, session: &NamedSession, hash: &KeyHash) -> bool {
        let mac = self.session_mac(&SharedKey::from(hash));
        let token = NamedToken::of_random(masked(&session.masked, &mac));
        token.hash().0.ct_eq(&hash.0).into()
    }

    fn session_mac(&self, key: &SharedKey) -> Zeroizing<Bytes> {
        Zeroizing::new(mac(key, SESSION, &[&self.0]))
    }
}

impl SharedKey {
    /// The key of a token.
    #[must_use]
    pub fn of(token: &OperatorToken) -> Self {
        match NamedToken::parse(token.expose()) {
            Some(named) => Self::from(&named.hash()),
            None => Self(token.expose().as_bytes().to_vec().into()),
        }
    }
}

impl From<&KeyHash> for SharedKey {
    fn from(hash: &KeyHash) -> Self {
        Self(hash.0.to_vec().into())
    }
}

impl NamedSession {
    /// Reads a presented session; `None` when it has another form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (named, masked) = text.strip_prefix(SESSION_PREFIX)?.split_once('_')?;
        let mut bytes = RandomPart::default();
        hex::decode_to_slice(masked, bytes.as_mut_slice()).ok()?;
        Some(Self {
            named: beginning(named)?,
            masked: bytes,
        })
    }

    /// Which token it is of.
    #[must_use]
    pub const fn named(&self) -> HashBeginning {
        self.named
    }
}

impl Challenge {
    /// A challenge to the server that is reached as `host`.
    #[must_use]
    pub fn new(token: &OperatorToken, host: &str) -> Self {
        let nonce = random_bytes();
        let named = NamedToken::parse(token.expose());
        let mac = mac(&SharedKey::of(token), CALLER, &[&nonce, host.as_bytes()]);
        Self {
            nonce,
            mac,
            named: named.map(|token| token.hash().beginning()),
        }
    }

    /// Which named operator's token the caller claims to hold, if it is one.
    #[must_use]
    pub const fn named(&self) -> Option<HashBeginning> {
        self.named
    }

    /// The answer of a server that was reached as `host` and accepted the connection at `address`;
    /// `None` when the caller does not hold the token.
    #[must_use]
    pub fn answer(
        &self,
        key: &SharedKey,
        host: &str,
        address: SocketAddr,
        instance: Instance,
    ) -> Option<Proof> {
        let expected = mac(key, CALLER, &[&self.nonce, host.as_bytes()]);
        let is_proven: bool = expected.ct_eq(&self.mac).into();
        is_proven.then(|| Proof {
            instance: hex::encode(instance.0),
            address,
            mac: hex::encode(self.server_mac(key, host, address, instance)),
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
        let key = SharedKey::of(token);
        let expected = self.server_mac(&key, host, proof.address, instance);
        let is_proven: bool = expected.ct_eq(&given).into();
        is_proven.then(|| instance.session(token))
    }

    fn server_mac(
        &self,
        key: &SharedKey,
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
        mac(key, SERVER, &parts)
    }
}

/// HMAC-SHA256 under the key; the length of each part precedes it, so that different lists
/// differ.
fn mac(key: &SharedKey, purpose: &[u8], parts: &[&[u8]]) -> Bytes {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(&key.0).expect("any length");
    for part in [purpose].iter().chain(parts) {
        mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// A random part under a mask; its own inverse.
fn masked(random: &RandomPart, mask: &Bytes) -> RandomPart {
    let mut masked = random.clone();
    for (byte, mask) in masked.iter_mut().zip(mask) {
        *byte ^= mask;
    }
    masked
}

fn beginning(text: &str) -> Option<HashBeginning> {
    let mut bytes = [0; 8];
    hex::decode_to_slice(text, &mut bytes).ok()?;
    Some(HashBeginning(bytes))
}

fn bytes(text: &str) -> Option<Bytes> {
    let mut bytes = [0; BYTES];
    hex::decode_to_slice(text, &mut bytes).ok()?;
    Some(bytes)
}

impl fmt::Display for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", hex::encode(self.nonce), hex::encode(self.mac))?;
        match self.named {
            Some(HashBeginning(named)) => write!(f, " {}", hex::encode(named)),
            None => Ok(()),
        }
    }
}

impl FromStr for Challenge {
    type Err = NoChallenge;

    fn from_str(text: &str) -> Result<Self, NoChallenge> {
        let (nonce, rest) = text.split_once(' ').ok_or(NoChallenge)?;
        let (mac, named) = match rest.split_once(' ') {
            Some((mac, named)) => (mac, Some(beginning(named).ok_or(NoChallenge)?)),
            None => (rest, None),
        };
        let nonce = bytes(nonce).ok_or(NoChallenge)?;
        let mac = bytes(mac).ok_or(NoChallenge)?;
        Ok(Self { nonce, mac, named })
    }
}

impl fmt::Debug for SharedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedKey(..)")
    }
}

impl fmt::Debug for NamedSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NamedSession(..)")
    }
}

impl fmt::Debug for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Challenge(..)")
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;
    use crate::access::NewOperatorToken;

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
        let proof = sent
            .answer(&SharedKey::of(&token), HOST, address, instance)
            .unwrap();
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
        let token = token("0123456789abcdef");
        let ours = SharedKey::of(&token);
        let address = HOST.parse().unwrap();
        let instance = Instance::random();
        assert!(challenge.answer(&ours, HOST, address, instance).is_none());
        let replayed = Challenge::new(&token, HOST);
        let elsewhere = replayed.answer(&ours, "evil.example", address, instance);
        assert!(elsewhere.is_none());
    }

    #[test]
    fn a_proof_holds_for_one_question_one_host_and_one_address() {
        let (token, instance) = (token("0123456789abcdef"), Instance::random());
        let challenge = Challenge::new(&token, HOST);
        let address: SocketAddr = HOST.parse().unwrap();
        let key = SharedKey::of(&token);
        let proof = challenge.answer(&key, HOST, address, instance).unwrap();
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
        let sent = challenge.to_string();
        for text in [
            "",
            "00",
            "00 00",
            &"0".repeat(129),
            &format!("{sent} "),
            &format!("{sent} 00"),
        ] {
            assert_eq!(text.parse::<Challenge>(), Err(NoChallenge));
        }
    }

    #[test]
    fn a_named_token_opens_a_session_at_a_server_that_knows_its_hash_only() {
        let new = NewOperatorToken::generate();
        let token = token(new.clear_text.expose_secret());
        let (hash, instance) = (new.hash, Instance::random());
        let challenge = Challenge::new(&token, HOST);
        let sent: Challenge = challenge.to_string().parse().unwrap();
        assert_eq!(sent.named(), Some(hash.beginning()));
        let address = HOST.parse().unwrap();
        let key = SharedKey::from(&hash);
        let proof = sent.answer(&key, HOST, address, instance).unwrap();
        let session = challenge.session(&token, HOST, &proof).unwrap();
        assert!(!session.expose().contains(&token.expose()[11..59]));
        let named = NamedSession::parse(session.expose()).unwrap();
        assert_eq!(named.named(), hash.beginning());
        assert!(instance.opens(&named, &hash));
        assert!(!Instance::random().opens(&named, &hash));
        assert!(!instance.opens(&named, &NewOperatorToken::generate().hash));
    }

    #[test]
    fn the_hash_of_a_named_token_opens_nothing() {
        let hash = NewOperatorToken::generate().hash;
        let instance = Instance::random();
        // Somebody who has read the hash knows the mask, and none of what is under it.
        let mask = instance.session_mac(&SharedKey::from(&hash));
        for random in [
            RandomPart::default(),
            hash.0[..24].try_into().map(RandomPart::new).unwrap(),
        ] {
            let forged = NamedSession {
                named: hash.beginning(),
                masked: masked(&random, &mask),
            };
            assert!(!instance.opens(&forged, &hash));
        }
    }
}
