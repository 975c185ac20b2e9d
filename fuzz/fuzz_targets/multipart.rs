//! For any multipart body: no panic, limits that hold, and the same result however the body is
//! split.
//!
//! The input is the body; its boundary is `b`.

#![no_main]

use std::convert::Infallible;
use std::mem::discriminant;
use std::sync::LazyLock;

use bytes::Bytes;
use futures_util::stream;
use libfuzzer_sys::fuzz_target;
use preauth_server::http::multipart::{Boundary, Form, FormFlaw, read};
use tokio::runtime::{Builder, Runtime};

/// Shared by all inputs: building it takes longer than reading one.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let runtime = Builder::new_current_thread().build();
    runtime.expect("a runtime")
});
/// Longer inputs are not cut at every byte.
const SHORT_BYTES: usize = 512;

fuzz_target!(|input: &[u8]| {
    let whole = answer(input, input.len());
    for piece in [1, 2, 3, 7, 64] {
        assert_same(&whole, &answer(input, piece));
    }
    if input.len() <= SHORT_BYTES {
        for border in 0..=input.len() {
            let (head, tail) = input.split_at(border);
            assert_same(&whole, &answer_to(vec![head, tail]));
        }
    }
    if let Ok((form, file)) = whole {
        every_value_read_was_sent(input, &form, &file);
    }
});

type Answer = Result<(Form, Vec<u8>), FormFlaw>;

fn answer(input: &[u8], piece: usize) -> Answer {
    answer_to(input.chunks(piece.max(1)).collect())
}

fn answer_to(pieces: Vec<&[u8]>) -> Answer {
    let pieces = pieces.into_iter().map(Bytes::copy_from_slice);
    let body = stream::iter(pieces.map(Ok::<_, Infallible>));
    let boundary = Boundary::of("multipart/form-data; boundary=b")?;
    let mut file = Vec::new();
    let form = RUNTIME.block_on(read(body, boundary, &mut file))?;
    Ok((form, file))
}

fn assert_same(one: &Answer, other: &Answer) {
    match (one, other) {
        (Ok(one), Ok(other)) => assert_eq!(one, other),
        (Err(one), Err(other)) => assert_eq!(discriminant(one), discriminant(other)),
        _ => panic!("{one:?} is not {other:?}"),
    }
}

/// Nothing is transcoded, trimmed or invented.
fn every_value_read_was_sent(input: &[u8], form: &Form, file: &[u8]) {
    let texts = [&form.supplier, &form.invoice, &form.external_reference];
    for text in texts.into_iter().flatten() {
        assert!(stands_in(input, text));
    }
    assert!(stands_in(input, file));
    if let Some(part) = &form.file {
        assert!(!part.name.is_empty());
    }
}

fn stands_in(input: &[u8], sought: &[u8]) -> bool {
    sought.is_empty() || input.windows(sought.len()).any(|window| window == sought)
}
