//! Suggests the command or setting for a mistyped word.

/// Maximum number of typing errors in a suggestion.
const MAX_EDITS: usize = 2;

/// The closest of `names`, if one is close enough.
pub(crate) fn closest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (errors, name) = names
        .map(|name| (distance(word, name), name))
        .min_by_key(|(errors, _)| *errors)?;
    // With two errors a word of three letters matches almost any other, unless the beginning is
    // equal.
    let is_alike = errors.saturating_mul(2) < name.len() || word.get(..1) == name.get(..1);
    (errors <= MAX_EDITS && errors < name.len() && is_alike).then_some(name)
}

/// The edit distance: the number of characters to add, remove or replace.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, left) in one.chars().enumerate() {
        let mut diagonal = index;
        let mut before = index.saturating_add(1);
        if let Some(first) = row.first_mut() {
            *first = before;
        }
        for (right, cell) in other.iter().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal.saturating_add(usize::from(left != *right));
            diagonal = *cell;
            let added = before.min(diagonal).saturating_add(1);
            before = replaced.min(added);
            *cell = before;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{closest, distance};

    #[test]
    fn distances_are_counted_in_single_errors() {
        for (one, other, errors) in [
            ("", "", 0),
            ("", "pay", 3),
            ("pay", "pay", 0),
            ("reqest", "request", 1),
            ("aprove", "approve", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(one, other), errors, "{one} {other}");
            assert_eq!(distance(other, one), errors, "{other} {one}");
        }
    }

    #[test]
    fn only_a_close_word_is_a_hint() {
        let closest = |word| closest(word, ["request", "release", "pay"].into_iter());
        assert_eq!(closest("requst"), Some("request"));
        assert_eq!(closest("realease"), Some("release"));
        assert_eq!(closest("pya"), Some("pay"));
        assert_eq!(closest("may"), Some("pay"));
        assert_eq!(closest("now"), None);
        assert_eq!(closest("frobnicate"), None);
    }
}
