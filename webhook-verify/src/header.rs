//! The signature header, parsed once into a checked value.

use crate::error::HeaderDefect;
use crate::limits::{MAX_HEADER_BYTES, MAX_SIGNATURES};
use crate::mac::{MAC_BYTES, Mac};
use crate::timestamp::Timestamp;

/// Hexadecimal digits of a signature.
const HEX_DIGITS: usize = 64;

/// A well-formed `t=<unix seconds>,v1=<hex>`
/// ([contract, "Signature"](https://example.com/preauth/blob/main/docs/reference.md#signature)).
///
/// Grammar: `name=value` items, separated by single commas, in any order; printable ASCII without
/// spaces. Exactly one `t`; one to [`MAX_SIGNATURES`] `v1`, each of 64 hexadecimal digits in either
/// case. Items with other names belong to future schemes and are ignored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SignatureHeader<'h> {
    timestamp: Timestamp<'h>,
    candidates: Candidates,
}

impl<'h> SignatureHeader<'h> {
    /// Parses the header's value.
    #[inline]
    pub(crate) fn parse(value: &'h [u8]) -> Result<Self, HeaderDefect> {
        if value.len() > MAX_HEADER_BYTES {
            return Err(HeaderDefect::TooLong);
        }
        // A fold has no early exit, so the compiler can check many bytes at once.
        if !value
            .iter()
            .fold(true, |all, byte| all & byte.is_ascii_graphic())
        {
            return Err(HeaderDefect::NotPrintableAscii);
        }
        let mut timestamp = None;
        let mut candidates = Candidates::default();
        let mut items = Some(value);
        while let Some(item) = items {
            let (name, value) = split_name(item)?;
            let rest = match name {
                b"t" if timestamp.is_some() => return Err(HeaderDefect::DuplicateTimestamp),
                b"t" => {
                    let (text, rest) = split_value(value);
                    timestamp = Some(Timestamp::parse(text)?);
                    rest
                }
                b"v1" => {
                    let (mac, rest) = split_signature(value)?;
                    candidates.push(mac)?;
                    rest
                }
                _ => split_value(value).1,
            };
            items = rest.strip_prefix(b",");
        }
        let timestamp = timestamp.ok_or(HeaderDefect::MissingTimestamp)?;
        if candidates.count == 0 {
            return Err(HeaderDefect::MissingSignature);
        }
        Ok(Self {
            timestamp,
            candidates,
        })
    }

    /// The timestamp of the header.
    pub(crate) fn timestamp(&self) -> Timestamp<'h> {
        self.timestamp
    }

    /// The `v1` signatures, at least one.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = &Mac> + Clone {
        self.candidates.macs.iter().take(self.candidates.count)
    }
}

/// The signatures of a header, in place: parsing allocates nothing.
#[derive(Debug, Clone, Copy, Default)]
struct Candidates {
    macs: [Mac; MAX_SIGNATURES],
    count: usize,
}

impl Candidates {
    fn push(&mut self, mac: Mac) -> Result<(), HeaderDefect> {
        let free = self
            .macs
            .get_mut(self.count)
            .ok_or(HeaderDefect::TooManySignatures)?;
        *free = mac;
        self.count = self.count.saturating_add(1);
        Ok(())
    }
}

/// Splits off the name of the first item; returns it and the text after its `=`.
fn split_name(items: &[u8]) -> Result<(&[u8], &[u8]), HeaderDefect> {
    let end = items.iter().position(|byte| matches!(byte, b'=' | b','));
    match end.and_then(|end| items.split_at_checked(end)) {
        Some((name, [b'=', rest @ ..])) if !name.is_empty() => Ok((name, rest)),
        _ => Err(HeaderDefect::NotNameAndValue),
    }
}

/// Splits off a value up to its comma; returns it and the rest. A value may contain `=` (base64 does).
fn split_value(value: &[u8]) -> (&[u8], &[u8]) {
    let end = value.iter().position(|&byte| byte == b',');
    let end = end.unwrap_or(value.len());
    value.split_at_checked(end).unwrap_or((value, &[]))
}

/// Splits off a signature; returns it and the rest. Its length is known, so its digits are not searched
/// for a comma.
fn split_signature(value: &[u8]) -> Result<(Mac, &[u8]), HeaderDefect> {
    match value.split_first_chunk::<HEX_DIGITS>() {
        Some((digits, rest @ ([] | [b',', ..]))) => Ok((parse_signature(digits)?, rest)),
        _ => Err(HeaderDefect::SignatureNotHex),
    }
}

/// Parses exactly 64 hexadecimal digits. The received signature is not a secret, so only the comparison
/// must be constant-time. There is no branch per digit for speed: a version with one took a sixth of
/// the time of the HMAC on machines with SHA instructions.
fn parse_signature(digits: &[u8; HEX_DIGITS]) -> Result<Mac, HeaderDefect> {
    let values = digits.map(hex_value);
    if values.iter().fold(0, |all, value| all | value) > 15 {
        return Err(HeaderDefect::SignatureNotHex);
    }
    let mut mac = [0; MAC_BYTES];
    for (byte, pair) in mac.iter_mut().zip(values.chunks_exact(2)) {
        if let [high, low] = pair {
            *byte = (high << 4) | low;
        }
    }
    Ok(mac)
}

/// The value of a hexadecimal digit in either case; for any other byte, a number above 15.
const fn hex_value(digit: u8) -> u8 {
    let number = digit.wrapping_sub(b'0');
    let letter = (digit | 0x20).wrapping_sub(b'a');
    if number < 10 {
        number
    } else if letter < 6 {
        letter.wrapping_add(10)
    } else {
        u8::MAX
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::*;

    fn defect(value: &str) -> Option<HeaderDefect> {
        SignatureHeader::parse(value.as_bytes()).err()
    }

    fn v1(byte: u8) -> String {
        format!("v1={}", format!("{byte:02x}").repeat(MAC_BYTES))
    }

    #[test]
    fn all_signatures_are_kept_in_order() {
        let value = format!("t=1760000000,{},{}", v1(0xab), v1(0x01));
        let header = SignatureHeader::parse(value.as_bytes()).unwrap();
        assert_eq!(header.timestamp().unix_seconds(), 1_760_000_000);
        let found: Vec<&Mac> = header.candidates().collect();
        assert_eq!(found, [&[0xab; MAC_BYTES], &[0x01; MAC_BYTES]]);
    }

    #[test]
    fn the_order_of_items_and_the_case_of_hex_digits_do_not_matter() {
        let digits = "aB".repeat(MAC_BYTES);
        let value = format!("v1={digits},t=1760000000");
        let header = SignatureHeader::parse(value.as_bytes()).unwrap();
        assert!(header.candidates().eq([&[0xab; MAC_BYTES]]));
    }

    #[test]
    fn unknown_schemes_are_passed_over() {
        let value = format!("v0=,t=1,v2=QUJD==,V1=zz,{},T=9,v10=x", v1(7));
        assert_eq!(defect(&value), None);
    }

    #[test]
    fn eight_signatures_are_read_and_nine_refused() {
        let eight = format!("t=1,{}", [const { 1u8 }; MAX_SIGNATURES].map(v1).join(","));
        let header = SignatureHeader::parse(eight.as_bytes()).unwrap();
        assert_eq!(header.candidates().count(), MAX_SIGNATURES);
        let nine = format!("{eight},{}", v1(2));
        assert_eq!(defect(&nine), Some(HeaderDefect::TooManySignatures));
    }

    #[test]
    fn a_header_of_the_most_bytes_is_read_and_one_byte_more_refused() {
        let start = format!("t=1,{},x=", v1(1));
        let longest = format!("{start}{}", "y".repeat(MAX_HEADER_BYTES - start.len()));
        assert_eq!(defect(&longest), None);
        assert_eq!(defect(&format!("{longest}y")), Some(HeaderDefect::TooLong));
    }
}
