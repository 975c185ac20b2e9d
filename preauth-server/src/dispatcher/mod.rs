//! Where webhooks may go: the text of an endpoint's URL, what its name resolves to, and which
//! addresses are public.

mod address;
mod host;
mod lookup;
mod policy;
mod refusal;
mod target;

pub use address::is_public;
pub use host::Host;
pub use lookup::{Lookup, LookupError, SystemLookup, judged_addresses};
pub use policy::TargetPolicy;
pub use refusal::UrlRefusal;
pub use target::{ParsedTarget, judge_url};
