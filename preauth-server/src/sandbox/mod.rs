//! The sandbox: the whole system on the embedded database, with demo data and a receiver.

mod credentials;
mod folder;
mod greeting;
mod handler;
mod seed;
pub mod terminal;
mod words;

pub use credentials::{Credentials, ReadyFile};
pub use folder::sandbox_of;
pub use greeting::greeting;
pub use handler::SandboxHandler;
pub use seed::{HEAD_OFFICE_CNPJ, add_endpoint, seed};
pub(crate) use words::signature_refusal;

/// Prefix of the names of temporary folders.
pub const TEMPORARY_FOLDER_PREFIX: &str = "preauth-sandbox-";
