//! A digest of rows that does not depend on their order: a database does not keep the order in which
//! rows were written. Against damage, not against forgery.

use sha2::{Digest, Sha256};

/// The sum of the SHA-256 of each row, in 4 numbers of 64 bits that wrap around.
#[derive(Debug, Default)]
pub(in crate::store) struct RowsDigest {
    sums: [u64; 4],
    rows: u64,
    row: Sha256,
}

impl RowsDigest {
    /// Adds the next bytes of rows that end with a line feed each and have none within.
    pub(in crate::store) fn update(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.row.update(piece);
            if piece.ends_with(b"\n") {
                self.end_row();
            }
        }
    }

    /// The number of rows, and the digest.
    pub(in crate::store) fn finish(self) -> (u64, String) {
        let bytes = self.sums.map(u64::to_be_bytes);
        (self.rows, hex::encode(bytes.as_flattened()))
    }

    fn end_row(&mut self) {
        let hash: [u8; 32] = self.row.finalize_reset().into();
        let (numbers, _) = hash.as_chunks::<8>();
        for (sum, number) in self.sums.iter_mut().zip(numbers) {
            *sum = sum.wrapping_add(u64::from_be_bytes(*number));
        }
        self.rows = self.rows.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::RowsDigest;

    fn digest(pieces: &[&str]) -> (u64, String) {
        let mut digest = RowsDigest::default();
        for piece in pieces {
            digest.update(piece.as_bytes());
        }
        digest.finish()
    }

    #[test]
    fn rows_count_in_any_order_and_each_time() {
        let rows = digest(&["a\tb\nc\n", "d\n"]);
        assert_eq!(rows.0, 3);
        assert_eq!(digest(&["d\na\t", "b\n", "c\n"]), rows);
        assert_ne!(digest(&["a\tb\nc\n", "e\n"]), rows);
        assert_ne!(digest(&["a\tb\nc\n", "d\nd\n"]), rows);
        assert_ne!(digest(&["a\tb\nd\n"]), rows);
    }
}
