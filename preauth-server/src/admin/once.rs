//! The idempotency key of a command that creates a record.

use std::fmt::Write as _;

use clap::Args;
use preauth_core::value::IdempotencyKey;

use super::call::Call;

/// How a create may be repeated.
#[derive(Debug, Args)]
pub(crate) struct Once {
    /// Under the same key the record is created once, however often the command is repeated; by
    /// default a key of its own.
    #[arg(long, value_name = "KEY", value_parser = IdempotencyKey::parse)]
    idempotency_key: Option<IdempotencyKey>,
}

impl Once {
    /// The create of a record.
    pub(super) fn post(self, path: impl Into<String>) -> Call {
        let given = self.idempotency_key.map(|key| key.to_string());
        Call::post(path).keyed(given.unwrap_or_else(random_key))
    }
}

fn random_key() -> String {
    let mut key = "cli-".to_owned();
    for byte in crate::ids::random_bytes::<16>() {
        // Writing to a string does not fail.
        let _ = write!(key, "{byte:02x}");
    }
    key
}

#[cfg(test)]
mod tests {
    use preauth_core::value::IdempotencyKey;

    use super::random_key;

    #[test]
    fn a_key_that_is_made_up_is_one_and_another_each_time() {
        assert!(IdempotencyKey::parse(&random_key()).is_ok());
        assert_ne!(random_key(), random_key());
    }
}
