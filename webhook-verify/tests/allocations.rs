//! That verifying allocates nothing, whatever comes of it, so that it can copy no body either.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use allocation_counter::{AllocationInfo, measure};
use webhook_verify::{MAX_SIGNATURES, Secret, Verifier, VerifyError, sign};

const NOW: i64 = 1_760_000_000;

fn secret(number: usize) -> Secret {
    Secret::parse(&format!("whsec_YWxsb2NhdGlvbnMtYXJlLWNvdW50ZWQ_{number}")).unwrap()
}

/// The allocations of verifying, and its outcome; the first call has made the allocations that are made once.
fn counted(
    verifier: &Verifier,
    header: Option<&[u8]>,
    body: &[u8],
    now: i64,
) -> (AllocationInfo, Result<(), VerifyError>) {
    let verify = || verifier.verify(header, body, now).map(drop);
    let first = verify();
    let mut again = None;
    let allocated = measure(|| again = Some(verify()));
    assert_eq!(again, Some(first));
    (allocated, first)
}

#[test]
fn a_genuine_delivery_is_verified_without_an_allocation_whatever_its_size() {
    let secrets: Vec<Secret> = (0..MAX_SIGNATURES).map(secret).collect();
    let verifier = Verifier::new(secret(99)).also_accepting(secret(MAX_SIGNATURES - 1));
    for bytes in [0, 1, 1024, 64 * 1024, 1024 * 1024] {
        let body = vec![b'x'; bytes];
        let header = sign(&secrets, NOW, &body).unwrap();
        let (allocated, outcome) = counted(&verifier, Some(header.as_bytes()), &body, NOW);
        assert_eq!(outcome, Ok(()), "{bytes}");
        assert_eq!(allocated.count_total, 0, "{bytes}");
    }
}

#[test]
fn a_refusal_allocates_nothing_either() {
    let body = vec![b'x'; 64 * 1024];
    let genuine = sign(&[secret(1)], NOW, &body).unwrap();
    let malformed = genuine.replace("v1=", "v1=+");
    let verifier = Verifier::new(secret(2));
    for (header, now) in [
        (None, NOW),
        (Some(malformed), NOW),
        (Some(genuine.clone()), NOW + 301),
        (Some(genuine.clone()), NOW - 301),
        (Some(genuine), NOW),
    ] {
        let header = header.as_deref().map(str::as_bytes);
        let (allocated, outcome) = counted(&verifier, header, &body, now);
        let refusal = outcome.expect_err("nothing here is genuine");
        assert_eq!(allocated.count_total, 0, "{refusal}");
    }
}

#[test]
fn an_allocation_is_counted() {
    let allocated = measure(|| drop(std::hint::black_box(vec![0_u8; 64])));
    assert_eq!(allocated.count_total, 1);
}
