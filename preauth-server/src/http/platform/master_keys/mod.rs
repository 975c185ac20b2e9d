//! `/master-keys`: the keys that encrypt signing secrets, and their re-encryption.

mod find;
mod reencrypt;

pub(super) use find::Find;
pub(super) use reencrypt::Reencrypt;
