//! Why a delivery is refused: for the receiver's log, never for the answer to the sender.

use core::error::Error;
use core::fmt;

use crate::limits::{MAX_DIGITS, MAX_HEADER_BYTES, MAX_SIGNATURES};
use crate::{SIGNATURE_HEADER, mac::MAC_BYTES};

/// Why a delivery was not verified. Always answer 400, and log the text.
///
/// Only the form of the header and its time are reported apart from a signature that does not match: the
/// sender knows both anyway. Only [`VerifyError::NoMatch`] depends on the secret.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerifyError {
    /// The request had no signature header.
    MissingHeader,
    /// The signature header does not have the form `t=<unix seconds>,v1=<hex>`.
    Malformed(HeaderDefect),
    /// The delivery was signed longer ago than the tolerance: it was replayed or delayed, or this
    /// machine's clock is ahead.
    TooOld {
        /// Seconds since the signature's time.
        age_seconds: u64,
        /// Seconds that the verifier tolerates.
        tolerance_seconds: u64,
    },
    /// The delivery was signed further in the future than the tolerance: most likely this machine's
    /// clock is behind.
    TooNew {
        /// Seconds until the signature's time.
        ahead_seconds: u64,
        /// Seconds that the verifier tolerates.
        tolerance_seconds: u64,
    },
    /// No signature in the header matches this body under any of the secrets.
    NoMatch,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingHeader => write!(f, "the request has no {SIGNATURE_HEADER} header"),
            Self::Malformed(defect) => write!(f, "malformed {SIGNATURE_HEADER} header: {defect}"),
            Self::TooOld {
                age_seconds,
                tolerance_seconds,
            } => write!(
                f,
                "signed {age_seconds} s ago, {} s more than the {tolerance_seconds} s tolerated: \
                 an old delivery, or this machine's clock runs ahead",
                age_seconds.saturating_sub(*tolerance_seconds)
            ),
            Self::TooNew {
                ahead_seconds,
                tolerance_seconds,
            } => write!(
                f,
                "signed {ahead_seconds} s in the future, {} s more than the {tolerance_seconds} s \
                 tolerated: check this machine's clock, it seems to be behind",
                ahead_seconds.saturating_sub(*tolerance_seconds)
            ),
            Self::NoMatch => f.write_str(
                "no signature matches: check that the secret is this endpoint's, and that the \
                 body is the raw bytes as received",
            ),
        }
    }
}

impl Error for VerifyError {}

explained!(VerifyError);

/// A defect in the form of a signature header.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderDefect {
    /// The header is longer than [`MAX_HEADER_BYTES`].
    TooLong,
    /// A byte is not printable ASCII, or is a space.
    NotPrintableAscii,
    /// An item between commas is not `name=value`. An empty header has one such item.
    NotNameAndValue,
    /// There is no `t`.
    MissingTimestamp,
    /// There is more than one `t`.
    DuplicateTimestamp,
    /// `t` contains something other than ASCII digits, such as a sign or a fraction, or is empty.
    TimestampNotDigits,
    /// `t` has a leading zero.
    TimestampLeadingZero,
    /// `t` has more than twelve digits.
    TimestampTooLong,
    /// There is no `v1`.
    MissingSignature,
    /// A `v1` is not exactly 64 hexadecimal digits.
    SignatureNotHex,
    /// There are more than [`MAX_SIGNATURES`] `v1` items.
    TooManySignatures,
}

impl fmt::Display for HeaderDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "longer than {MAX_HEADER_BYTES} bytes"),
            Self::NotPrintableAscii => f.write_str("a byte is not printable ASCII"),
            Self::NotNameAndValue => f.write_str("an item is not name=value"),
            Self::MissingTimestamp => f.write_str("no t"),
            Self::DuplicateTimestamp => f.write_str("more than one t"),
            Self::TimestampNotDigits => f.write_str("t is not made of digits alone"),
            Self::TimestampLeadingZero => f.write_str("t has a leading zero"),
            Self::TimestampTooLong => write!(
                f,
                "t has more than {MAX_DIGITS} digits; it counts seconds, not milliseconds"
            ),
            Self::MissingSignature => f.write_str("no v1"),
            Self::SignatureNotHex => {
                let digits = MAC_BYTES.saturating_mul(2);
                write!(f, "a v1 is not exactly {digits} hexadecimal digits")
            }
            Self::TooManySignatures => write!(f, "more than {MAX_SIGNATURES} v1"),
        }
    }
}

impl Error for HeaderDefect {}

explained!(HeaderDefect);

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn a_time_out_of_tolerance_says_by_how_much_and_hints_at_the_clock() {
        let too_old = VerifyError::TooOld {
            age_seconds: 412,
            tolerance_seconds: 300,
        };
        assert_eq!(
            too_old.to_string(),
            "signed 412 s ago, 112 s more than the 300 s tolerated: \
             an old delivery, or this machine's clock runs ahead"
        );
        let too_new = VerifyError::TooNew {
            ahead_seconds: 301,
            tolerance_seconds: 300,
        };
        assert_eq!(
            too_new.to_string(),
            "signed 301 s in the future, 1 s more than the 300 s tolerated: \
             check this machine's clock, it seems to be behind"
        );
    }

    #[test]
    fn a_malformed_header_names_its_defect() {
        let error = VerifyError::Malformed(HeaderDefect::SignatureNotHex);
        assert_eq!(
            error.to_string(),
            "malformed x-service-signature header: a v1 is not exactly 64 hexadecimal digits"
        );
    }
}
