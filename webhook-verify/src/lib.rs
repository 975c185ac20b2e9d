//! Verifies signed webhooks: the signature header and the raw body in, verified bytes out.
//!
//! A delivery carries `x-service-signature: t=<unix seconds>,v1=<hex HMAC-SHA256>`. The signed
//! string is the text of `t`, a dot and the exact bytes of the body; the key is the UTF-8 bytes of
//! the whole secret, its `whsec_` included
//! ([contract, "Signature"](https://example.com/preauth/blob/main/docs/reference.md#signature)).
//!
//! ```
//! use webhook_verify::{Secret, Verifier};
//!
//! // Once, at start.
//! let secret = Secret::parse("whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE")?;
//! let verifier = Verifier::new(secret);
//!
//! // For each request: the header's bytes, and the body as it came, before any parsing.
//! let header: Option<&[u8]> = Some(
//!     b"t=1760000000,v1=57f9ec06861e4e8f14b16ea1ae1280c0ac52b3b342cd3a912dcc0283de7ab2d0",
//! );
//! let body = br#"{"type":"webhook.test"}"#;
//! let verified = verifier.verify(header, body, 1_760_000_012)?;
//!
//! // From here on, use only these bytes.
//! assert_eq!(verified.body(), body);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Guarantees:
//!
//! - Every secret is tried against every signature of the header, in constant time, without an
//!   early exit.
//! - The body is bytes: it is neither copied nor required to be UTF-8. Verifying allocates nothing.
//! - Nothing is computed from a timestamp before its form has been checked. The MAC is computed
//!   over the timestamp's text as received, never over a reformatted number.
//! - Secrets that an attacker could guess are refused when they are parsed.
//!
//! The module `receivers` of the documentation has complete receivers for axum, salvo and actix-web.
//!
//! Left to the receiver: an event may arrive more than once, so deduplicate by the `id` *in the
//! body*, as `events::Once` does. The headers [`EVENT_ID_HEADER`] and [`EVENT_TYPE_HEADER`] are not
//! signed. The README shows a whole event and lists the types; acknowledge events of other types
//! like the listed ones.
//!
//! # Features
//!
//! - `std` (default): [`Verifier::verify_now`], which reads the system clock. Without it the crate
//!   is `no_std` and needs `alloc`.
//! - `events`: the module `events` with the typed event and a helper that handles each event once.
//! - `aws-lc-rs`: HMAC by AWS-LC in place of `sha2`, up to twice as fast on machines without SHA
//!   instructions.
//! - `sign`: the function `sign`, the sender's half, over the same definition of the signed string.

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[macro_use]
mod explained;
mod error;
#[cfg(feature = "events")]
pub mod events;
mod header;
mod limits;
mod mac;
#[cfg(all(any(doc, doctest), feature = "events"))]
pub mod receivers;
mod secret;
#[cfg(feature = "sign")]
mod sign;
mod timestamp;
mod verified;
mod verifier;

pub use error::{HeaderDefect, VerifyError};
pub use limits::{MAX_HEADER_BYTES, MAX_SIGNATURES};
pub use secret::{MIN_SECRET_BYTES, SECRET_PREFIX, Secret, SecretError};
#[cfg(feature = "sign")]
pub use sign::{SignError, sign};
pub use verified::Verified;
pub use verifier::{DEFAULT_TOLERANCE, Verifier};

/// Name of the header that carries the signature
/// ([contract, "Delivery"](https://example.com/preauth/blob/main/docs/reference.md#delivery)).
pub const SIGNATURE_HEADER: &str = "x-service-signature";

/// Name of the header that repeats the event's `id`. It is not signed: trust the body's.
pub const EVENT_ID_HEADER: &str = "x-service-event-id";

/// Name of the header that repeats the event's `type`. It is not signed: trust the body's.
pub const EVENT_TYPE_HEADER: &str = "x-service-event-type";

/// The README's examples, compiled and run with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
