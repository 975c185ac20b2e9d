//! Limits of the signature header.

/// Maximum size of a signature header in bytes. Eight signatures need a third of it; the rest is room
/// for future schemes.
pub const MAX_HEADER_BYTES: usize = 2048;

/// Maximum number of `v1` signatures in one header. It bounds the work that an unverified request causes.
pub const MAX_SIGNATURES: usize = 8;

/// Maximum number of digits of a timestamp: enough for 30,000 years in seconds, too few for milliseconds
/// today.
pub(crate) const MAX_DIGITS: usize = 12;
