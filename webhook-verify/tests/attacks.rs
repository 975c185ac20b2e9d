//! Headers that somebody without the secret may send, and how each is refused.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on panics"
)]

use webhook_verify::{
    HeaderDefect as Defect, MAX_HEADER_BYTES, Secret, Verifier, VerifyError, sign,
};

const SECRET: &str = "whsec_YXR0YWNrcy1hcmUtbWFkZS1hZ2FpbnN0LXRoaXMtb25l";
const NOW: i64 = 1_760_000_000;
const BODY: &[u8] = br#"{"id":"1","type":"webhook.test"}"#;

fn secret() -> Secret {
    Secret::parse(SECRET).unwrap()
}

/// The genuine header's hexadecimal digits.
fn genuine() -> String {
    let header = sign(&[secret()], NOW, BODY).unwrap();
    header.split_once("v1=").unwrap().1.to_owned()
}

fn refusal(header: impl AsRef<[u8]>) -> VerifyError {
    Verifier::new(secret())
        .verify(Some(header.as_ref()), BODY, NOW)
        .expect_err(&String::from_utf8_lossy(header.as_ref()))
}

#[test]
fn every_malformed_header_is_refused_with_its_defect() {
    let v1 = genuine();
    let table = [
        (String::new(), Defect::NotNameAndValue),
        (",".into(), Defect::NotNameAndValue),
        ("=".into(), Defect::NotNameAndValue),
        ("t".into(), Defect::NotNameAndValue),
        (format!("t={NOW},,v1={v1}"), Defect::NotNameAndValue),
        (format!(",t={NOW},v1={v1}"), Defect::NotNameAndValue),
        (format!("t={NOW},v1={v1},"), Defect::NotNameAndValue),
        (format!("t={NOW};v1={v1}"), Defect::TimestampNotDigits),
        (format!("t={NOW},={v1}"), Defect::NotNameAndValue),
        (format!("t={NOW} ,v1={v1}"), Defect::NotPrintableAscii),
        (format!("t={NOW},v1={v1}\r\n"), Defect::NotPrintableAscii),
        (format!("t={NOW},v1={v1}\0"), Defect::NotPrintableAscii),
        (format!("t={NOW},\tv1={v1}"), Defect::NotPrintableAscii),
        (format!("t={NOW},x=é,v1={v1}"), Defect::NotPrintableAscii),
        (
            format!("t=１７６００００００,v1={v1}"),
            Defect::NotPrintableAscii,
        ),
        (format!("v1={v1}"), Defect::MissingTimestamp),
        (format!("T={NOW},v1={v1}"), Defect::MissingTimestamp),
        (format!("t={NOW}"), Defect::MissingSignature),
        (format!("t={NOW},V1={v1}"), Defect::MissingSignature),
        (format!("t={NOW},v0={v1}"), Defect::MissingSignature),
        (
            format!("t={NOW},v1={v1},t={NOW}"),
            Defect::DuplicateTimestamp,
        ),
        (format!("t=1,t={NOW},v1={v1}"), Defect::DuplicateTimestamp),
        (format!("t=,v1={v1}"), Defect::TimestampNotDigits),
        (format!("t=-{NOW},v1={v1}"), Defect::TimestampNotDigits),
        (format!("t=+{NOW},v1={v1}"), Defect::TimestampNotDigits),
        (
            format!("t={},v1={v1}", i64::MIN),
            Defect::TimestampNotDigits,
        ),
        (format!("t={NOW}.,v1={v1}"), Defect::TimestampNotDigits),
        (format!("t=0{NOW},v1={v1}"), Defect::TimestampLeadingZero),
        (format!("t={NOW}000,v1={v1}"), Defect::TimestampTooLong),
        (format!("t={},v1={v1}", u64::MAX), Defect::TimestampTooLong),
        (
            format!("t={},v1={v1}", "9".repeat(1000)),
            Defect::TimestampTooLong,
        ),
        (format!("t={NOW},v1="), Defect::SignatureNotHex),
        (format!("t={NOW},v1={}", &v1[..62]), Defect::SignatureNotHex),
        (format!("t={NOW},v1={}", &v1[..63]), Defect::SignatureNotHex),
        (format!("t={NOW},v1={v1}00"), Defect::SignatureNotHex),
        (
            format!("t={NOW},v1=0x{}", &v1[2..]),
            Defect::SignatureNotHex,
        ),
        (
            format!("t={NOW},v1={}g", &v1[..63]),
            Defect::SignatureNotHex,
        ),
        (format!("t={NOW},v1={v1},v1="), Defect::SignatureNotHex),
        (
            format!("t={NOW}{}", format!(",v1={v1}").repeat(9)),
            Defect::TooManySignatures,
        ),
        (
            format!("t={NOW},v1={v1},x={}", "y".repeat(MAX_HEADER_BYTES)),
            Defect::TooLong,
        ),
    ];
    for (header, defect) in table {
        assert_eq!(refusal(&header), VerifyError::Malformed(defect), "{header}");
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    for byte in (0..=b' ').chain(0x7f..=0xff) {
        let mut header = format!("t={NOW},v1={},x=", genuine()).into_bytes();
        header.push(byte);
        let expected = VerifyError::Malformed(Defect::NotPrintableAscii);
        assert_eq!(refusal(header), expected, "{byte:#x}");
    }
}

#[test]
fn a_huge_header_is_refused_before_it_is_read() {
    let header = vec![0xff; 16 << 20];
    assert_eq!(refusal(header), VerifyError::Malformed(Defect::TooLong));
}

#[test]
fn a_body_cannot_borrow_digits_from_the_time() {
    // The signed string "1760000000.12.x" reads as two pairs of time and body.
    let header = sign(&[secret()], NOW, b"12.x").unwrap();
    let digits = header.split_once("v1=").unwrap().1;
    let verifier = Verifier::new(secret());
    let forged = format!("t={NOW}.12,v1={digits}");
    assert!(verifier.verify(Some(forged.as_bytes()), b"x", NOW).is_err());
}

#[test]
fn a_missing_header_is_not_a_wrong_one() {
    let refused = Verifier::new(secret()).verify(None, BODY, NOW);
    assert_eq!(refused, Err(VerifyError::MissingHeader));
}

#[test]
fn the_time_is_checked_before_the_signature() {
    // A sender without the secret learns the same from an old header, whether it was genuine or not.
    let zeros = "0".repeat(64);
    for v1 in [genuine(), zeros] {
        let old = format!("t={},v1={v1}", NOW - 1000);
        assert!(matches!(
            refusal(old),
            VerifyError::TooOld {
                age_seconds: 1000,
                ..
            }
        ));
        let new = format!("t={},v1={v1}", NOW + 1000);
        assert!(matches!(
            refusal(new),
            VerifyError::TooNew {
                ahead_seconds: 1000,
                ..
            }
        ));
    }
}
