//! The client's resolver: gives out judged addresses, or none.

use std::net::SocketAddr;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::dispatcher::lookup::{Lookup, judged_addresses};
use crate::dispatcher::policy::TargetPolicy;

/// Resolves once per connection; the socket goes to one of the judged addresses, while the name
/// stays in SNI and `Host`. The client asks it for names only: addresses in URLs are judged by
/// `judge_url`.
pub(super) struct JudgingResolver {
    pub(super) lookup: Arc<dyn Lookup>,
    pub(super) policy: TargetPolicy,
}

impl Resolve for JudgingResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (lookup, policy) = (Arc::clone(&self.lookup), self.policy.clone());
        Box::pin(async move {
            let addresses = judged_addresses(&*lookup, name.as_str(), &policy).await?;
            // Port 0 stands for the URL's own.
            let sockets = addresses
                .into_iter()
                .map(|address| SocketAddr::new(address, 0));
            Ok::<Addrs, _>(Box::new(sockets))
        })
    }
}
