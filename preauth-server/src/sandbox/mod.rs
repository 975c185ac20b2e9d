//! A place to learn: the whole system on the embedded database, with demo data and a receiver.

mod credentials;
mod greeting;
mod seed;

pub use credentials::{Credentials, ReadyFile};
pub use greeting::greeting;
pub use seed::{BRANCH_CNPJ, HEAD_OFFICE_CNPJ, seed};
