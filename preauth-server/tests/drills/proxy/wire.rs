//! The part of PostgreSQL's protocol that is needed to recognize a commit.

use std::collections::HashMap;

/// Type and length of a message; the first message has no type.
const HEAD: usize = 5;
const LENGTH: usize = 4;

/// The requests of one side of a connection so far.
#[derive(Default)]
pub(super) struct Requests {
    unread: Vec<u8>,
    has_begun: bool,
    is_in_transaction: bool,
    /// Whether a prepared statement writes, by its name.
    prepared: HashMap<Vec<u8>, bool>,
    is_write_bound: bool,
}

impl Requests {
    /// Parses more bytes; returns whether they commit a transaction, explicit or of a single
    /// statement.
    pub(super) fn see(&mut self, bytes: &[u8]) -> bool {
        self.unread.extend_from_slice(bytes);
        let mut commits = false;
        while let Some(message) = self.next_message() {
            commits |= self.understand(&message);
        }
        commits
    }

    fn next_message(&mut self) -> Option<Vec<u8>> {
        let kind = usize::from(self.has_begun);
        let length = self.unread.get(kind..kind + LENGTH)?;
        let length = u32::from_be_bytes(length.try_into().unwrap());
        let end = kind + usize::try_from(length).unwrap();
        if self.unread.len() < end {
            return None;
        }
        let message = self.unread.drain(..end).collect();
        Some(message)
    }

    fn understand(&mut self, message: &[u8]) -> bool {
        if !self.has_begun {
            self.has_begun = true;
            return false;
        }
        let mut texts = message[HEAD..].split(|byte| *byte == 0);
        let mut text = || texts.next().unwrap_or_default();
        match message[0] {
            b'Q' => return self.simple_query(&String::from_utf8_lossy(text()).to_uppercase()),
            // Parse: the statement's name, its text.
            b'P' => {
                let name = text().to_vec();
                let query = String::from_utf8_lossy(text()).to_uppercase();
                let writes = ["INSERT ", "UPDATE ", "DELETE "];
                let is_write = writes.iter().any(|verb| query.contains(verb));
                self.prepared.insert(name, is_write);
            }
            // Bind: the portal's name, the statement's.
            b'B' => {
                text();
                self.is_write_bound |= self.prepared.get(text()).copied().unwrap_or_default();
            }
            // Sync ends a statement outside a transaction.
            b'S' => return std::mem::take(&mut self.is_write_bound) && !self.is_in_transaction,
            _ => {}
        }
        false
    }

    fn simple_query(&mut self, query: &str) -> bool {
        if query.starts_with("BEGIN") {
            self.is_in_transaction = true;
        } else if query.starts_with("COMMIT") || query.starts_with("ROLLBACK") {
            self.is_in_transaction = false;
        }
        query.starts_with("COMMIT")
    }
}

#[cfg(test)]
mod tests {
    use super::Requests;

    fn message(kind: &[u8], content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len() + 4).unwrap().to_be_bytes();
        [kind, &length, content].concat()
    }

    fn begun() -> Requests {
        let mut requests = Requests::default();
        assert!(!requests.see(&message(b"", b"\0\x03\0\0user\0postgres\0\0")));
        requests
    }

    #[test]
    fn a_commit_is_seen_however_it_is_cut_into_pieces() {
        let mut requests = begun();
        let query = [
            message(b"Q", b"BEGIN\0"),
            message(b"Q", b"COMMIT\0"),
            message(b"Q", b"SELECT 1\0"),
        ]
        .concat();
        let seen: Vec<_> = query.iter().map(|byte| requests.see(&[*byte])).collect();
        assert_eq!(seen.iter().filter(|is_commit| **is_commit).count(), 1);
        assert!(begun().see(&query));
    }

    #[test]
    fn a_write_commits_at_its_sync_unless_a_transaction_is_open() {
        let mut requests = begun();
        let prepare = [
            message(b"P", b"one\0insert into t values ($1)\0\0\0"),
            message(b"P", b"two\0SELECT 1\0\0\0"),
            message(b"S", b""),
        ];
        assert!(!requests.see(&prepare.concat()));
        let run = |name: &[u8]| {
            let bind = message(b"B", &[b"\0", name, b"\0\0\0\0\0\0\0"].concat());
            [bind, message(b"E", b"\0\0\0\0\0"), message(b"S", b"")].concat()
        };
        assert!(requests.see(&run(b"one")));
        assert!(!requests.see(&run(b"two")));
        assert!(!requests.see(&message(b"Q", b"BEGIN\0")));
        assert!(!requests.see(&run(b"one")));
        assert!(requests.see(&message(b"Q", b"COMMIT\0")));
    }
}
