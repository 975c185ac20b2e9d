//! The signature header, parsed once into a checked value.

use crate::error::HeaderDefect;
use crate::mac::{MAC_BYTES, Mac};
use crate::timestamp::Timestamp;

/// Most bytes of a signature header. Eight signatures need a third of it; the rest is room for
/// schemes to come.
pub const MAX_HEADER_BYTES: usize = 2048;

/// Most `v1` signatures in one header, so that a stranger cannot choose how much is compared.
pub const MAX_SIGNATURES: usize = 8;

/// A well-formed `t=<unix seconds>,v1=<hex>` (contract: Events, Signature).
///
/// Grammar: `name=value` items, separated by single commas, in any order; printable ASCII without
/// spaces. Exactly one `t`; one to [`MAX_SIGNATURES`] `v1`, each of 64 hexadecimal digits in either
/// case. Items of other names are schemes of the future and passed over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SignatureHeader<'h> {
    timestamp: Timestamp<'h>,
    candidates: Candidates,
}

impl<'h> SignatureHeader<'h> {
    /// Reads the header's value.
    pub(crate) fn parse(value: &'h [u8]) -> Result<Self, HeaderDefect> {
        if value.len() > MAX_HEADER_BYTES {
            return Err(HeaderDefect::TooLong);
        }
        if !value.iter().all(u8::is_ascii_graphic) {
            return Err(HeaderDefect::NotPrintableAscii);
        }
        let mut timestamp = None;
        let mut candidates = Candidates::default();
        for item in value.split(|&byte| byte == b',') {
            match split_item(item)? {
                (b"t", _) if timestamp.is_some() => return Err(HeaderDefect::DuplicateTimestamp),
                (b"t", text) => timestamp = Some(Timestamp::parse(text)?),
                (b"v1", digits) => candidates.push(parse_signature(digits)?)?,
                _ => {}
            }
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

    /// The one timestamp.
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

/// Splits `name=value` at its first `=`; a value may have more of them (base64 does).
fn split_item(item: &[u8]) -> Result<(&[u8], &[u8]), HeaderDefect> {
    let mut halves = item.splitn(2, |&byte| byte == b'=');
    match (halves.next(), halves.next()) {
        (Some(name), Some(value)) if !name.is_empty() => Ok((name, value)),
        _ => Err(HeaderDefect::NotNameAndValue),
    }
}

/// Reads exactly 64 hexadecimal digits. What a stranger sent is no secret: this need not be
/// constant-time, the comparison must.
fn parse_signature(digits: &[u8]) -> Result<Mac, HeaderDefect> {
    let mut mac = [0; MAC_BYTES];
    hex::decode_to_slice(digits, &mut mac).map_err(|_| HeaderDefect::SignatureNotHex)?;
    Ok(mac)
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
