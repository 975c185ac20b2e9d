//! How much of a header is read.

/// Most bytes of a signature header. Eight signatures need a third of it; the rest is room for
/// schemes to come.
pub const MAX_HEADER_BYTES: usize = 2048;

/// Most `v1` signatures in one header, so that a stranger cannot choose how much is compared.
pub const MAX_SIGNATURES: usize = 8;

/// Most digits of a timestamp: enough for 30,000 years in seconds, too few for milliseconds today.
pub(crate) const MAX_DIGITS: usize = 12;
