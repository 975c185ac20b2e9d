#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod answer;
mod answer_head;
mod api_key;
mod attempt;
mod base_url;
#[cfg(feature = "blocking")]
pub mod blocking;
mod builder;
mod call;
mod caller;
mod client;
mod ensured;
mod error;
mod events;
mod file;
mod idempotency;
mod list_filter;
mod many;
mod new_pre_authorization;
mod pages;
mod rate_limit;
mod response;
mod retry;
mod timing;
mod transport;
mod waiting;

pub use attempt::Attempt;
pub use builder::ClientBuilder;
pub use call::Call;
pub use client::Client;
pub use ensured::Ensured;
pub use error::{ConfigError, Error, ErrorKind, Problem};
pub use events::{CursorResult, CursorStore, Events, FileCursor, MemoryCursor};
pub use file::{FileError, FileType, InvoiceFile};
pub use list_filter::ListFilter;
pub use many::{CreateMany, ManyCreated, ManyOutcome, Progress};
pub use new_pre_authorization::NewPreAuthorization;
pub use pages::Operations;
pub use preauth_core::{ErrorCode, value, wire};
pub use rate_limit::RateLimit;
pub use response::Response;
pub use retry::RetryPolicy;
pub use timing::Timing;
pub use waiting::{WaitPolicy, Waited};
