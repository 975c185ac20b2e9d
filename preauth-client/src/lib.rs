#![doc = include_str!("../README.md")]

mod answer;
mod api_key;
mod base_url;
mod builder;
mod call;
mod client;
mod error;
mod idempotency;
mod list_filter;
mod new_pre_authorization;
mod response;
mod retry;
mod transport;

pub use builder::ClientBuilder;
pub use client::Client;
pub use error::{ConfigError, Error, ErrorKind, Problem};
pub use list_filter::ListFilter;
pub use new_pre_authorization::NewPreAuthorization;
pub use preauth_core::{ErrorCode, value, wire};
pub use response::{RateLimit, Response};
pub use retry::RetryPolicy;
