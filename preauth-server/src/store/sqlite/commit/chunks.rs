//! Rows in groups of a few fixed lengths, so that each statement has few texts, which stay prepared.

/// The lengths, the largest first.
const LENGTHS: [usize; 4] = [64, 16, 4, 1];

/// All of `rows` in their order, as few groups as possible.
pub(super) fn chunks<T>(mut rows: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let length = LENGTHS.into_iter().find(|length| *length <= rows.len())?;
        let (chunk, rest) = rows.split_at_checked(length)?;
        rows = rest;
        Some(chunk)
    })
}

#[cfg(test)]
mod tests {
    use super::chunks;

    #[test]
    fn all_rows_are_in_a_chunk_in_their_order() {
        let rows: Vec<u32> = (0..150).collect();
        let lengths: Vec<usize> = chunks(&rows).map(<[u32]>::len).collect();
        assert_eq!(lengths, [64, 64, 16, 4, 1, 1]);
        assert_eq!(chunks(&rows).flatten().copied().collect::<Vec<_>>(), rows);
        assert_eq!(chunks::<u32>(&[]).count(), 0);
    }
}
