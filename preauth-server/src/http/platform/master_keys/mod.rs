//! `/master-keys`: what the signing secrets are sealed with, and sealing them anew.

mod find;
mod reencrypt;

pub(super) use find::Find;
pub(super) use reencrypt::Reencrypt;
