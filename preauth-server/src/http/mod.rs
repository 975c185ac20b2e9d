//! The HTTP interfaces for callers: the integration API and the platform API.
//!
//! Each endpoint is a file: extract, convert, one call, convert. This folder has what they share.

mod authorization;
mod body;
mod body_decoder;
mod caller;
mod client_address;
mod console;
mod convert;
mod create_body;
mod description;
mod english;
mod error;
mod fields;
mod handler;
mod held;
mod idempotency;
mod in_progress;
pub mod integration;
mod json;
mod known_keys;
mod linger;
mod list_query;
mod messages;
pub mod multipart;
pub mod openapi;
mod pages;
mod path_id;
pub mod platform;
pub mod portal;
mod problem;
mod query;
mod receiver;
mod refusal;
mod reply;
mod request_log;
mod request_notes;
mod requested;
pub mod server;
mod tenants;
mod unauthenticated;

pub use body_decoder::WireDecoder;
pub use caller::Gate;
pub use client_address::{ClientAddress, Networks};
pub use console::{paths as console_paths, service as platform_service};
pub use convert::WireRender;
pub(crate) use convert::text as json_text;
pub use description::{DESCRIPTION, DESCRIPTION_IN_3_0, MULTIPART_DESCRIPTION_IN_3_0};
pub(crate) use english::english;
pub(crate) use error::status_number as status;
pub use in_progress::RequestsInProgress;
pub(crate) use messages::sentence;
pub(crate) use openapi::shape::Text as StoredText;
pub use receiver::{Answer, Delivery, DeliveryHandler, Receiver};
pub use salvo::Service;
pub use unauthenticated::UnauthenticatedLimiter;
