//! Resolves names to addresses: the port, and the resolver of the operating system.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use dns_lookup::{AddrInfoHints, LookupErrorKind, SockType, getaddrinfo};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use thiserror::Error;
use tokio::task::AbortHandle;

use super::hosts_file::{HOSTS_FILE, addresses_in};

/// Resolves names by the system's resolver, or by a configured one.
#[async_trait]
pub trait Lookup: Send + Sync {
    /// All addresses of the absolute `name`: at least one.
    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, LookupError>;
}

/// Why a name has no address.
#[derive(Clone, Debug, Error)]
pub enum LookupError {
    /// The authoritative answer: the name does not exist, or has no address.
    #[error("name has no address")]
    NoAddress,
    /// No answer could be obtained.
    #[error("resolver gives no answer")]
    Unavailable(#[source] Arc<dyn Error + Send + Sync>),
}

impl LookupError {
    pub(super) fn unavailable(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unavailable(cause.into().into())
    }
}

type Answer = Result<Vec<IpAddr>, LookupError>;

/// Maximum number of concurrent look-ups. The remaining ones of the runtime's 512 blocking threads stay
/// free for files.
const MAX_UNDER_WAY: usize = 384;

/// The maximum number of look-ups is in progress, and the resolver answers none of them.
#[derive(Debug, Error)]
#[error("too many names are being looked up")]
struct TooMany;

/// The hosts file of the operating system, then its resolver.
///
/// The resolver gets absolute names, with a dot at their end. Otherwise it would try its search
/// domains too, and `hooks.example.com` could be answered by `hooks.example.com.corp.example`.
/// glibc does not find absolute names in the hosts file, so that is read here.
///
/// A look-up blocks a thread of the runtime for as long as the system takes, also when no caller
/// waits for it any more. So there is one look-up per name at a time: a name that is slow to
/// resolve holds one thread, however many deliveries wait for it.
#[derive(Clone)]
pub struct SystemLookup {
    hosts_file: PathBuf,
    ask: Arc<Ask>,
    under_way: Arc<Mutex<HashMap<String, UnderWay>>>,
}

type Ask = dyn Fn(&str) -> Answer + Send + Sync;

/// A look-up in progress.
struct UnderWay {
    task: AbortHandle,
    answer: Shared<BoxFuture<'static, Answer>>,
}

impl UnderWay {
    fn start(lookup: SystemLookup, name: &str) -> Self {
        let name = name.to_owned();
        let asked = tokio::task::spawn_blocking(move || lookup.ask(&name));
        Self {
            task: asked.abort_handle(),
            answer: asked
                .map(|done| done.map_err(LookupError::unavailable)?)
                .boxed()
                .shared(),
        }
    }
}

impl SystemLookup {
    fn asking(
        hosts_file: impl AsRef<Path>,
        ask: impl Fn(&str) -> Answer + Send + Sync + 'static,
    ) -> Self {
        Self {
            hosts_file: hosts_file.as_ref().to_owned(),
            ask: Arc::new(ask),
            under_way: Arc::default(),
        }
    }

    /// Queries the hosts file or the resolver, on a thread that may block.
    fn ask(&self, name: &str) -> Answer {
        let listed = addresses_in(&self.hosts_file, name).map_err(LookupError::unavailable)?;
        if listed.is_empty() {
            (self.ask)(&format!("{name}."))
        } else {
            Ok(listed)
        }
    }

    /// The answer of the look-up in progress, or else of a new one.
    fn answer(&self, name: &str) -> Result<Shared<BoxFuture<'static, Answer>>, TooMany> {
        let under_way = self.under_way.lock();
        let mut under_way = under_way.unwrap_or_else(PoisonError::into_inner);
        // A finished look-up is outdated, even if its answer was never read.
        under_way.retain(|_, it| !it.task.is_finished());
        if under_way.len() >= MAX_UNDER_WAY && !under_way.contains_key(name) {
            return Err(TooMany);
        }
        let found = under_way.entry(name.to_owned());
        let found = found.or_insert_with(|| UnderWay::start(self.clone(), name));
        Ok(found.answer.clone())
    }
}

impl Default for SystemLookup {
    fn default() -> Self {
        Self::asking(HOSTS_FILE, ask_system)
    }
}

#[async_trait]
impl Lookup for SystemLookup {
    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, LookupError> {
        match self.answer(name) {
            Ok(answer) => answer.await,
            Err(too_many) => Err(LookupError::unavailable(too_many)),
        }
    }
}

impl fmt::Debug for SystemLookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemLookup").finish_non_exhaustive()
    }
}

fn ask_system(name: &str) -> Answer {
    let hints = AddrInfoHints {
        socktype: SockType::Stream.into(),
        ..AddrInfoHints::default()
    };
    let found = getaddrinfo(Some(name), None, Some(hints)).map_err(|error| match error.kind() {
        LookupErrorKind::NoName | LookupErrorKind::NoData => LookupError::NoAddress,
        _ => LookupError::unavailable(std::io::Error::from(error)),
    })?;
    let addresses = found.map(|entry| entry.map(|entry| entry.sockaddr.ip()));
    let addresses: Result<Vec<_>, _> = addresses.collect();
    some(addresses.map_err(LookupError::unavailable)?)
}

/// An empty answer is an error.
pub(super) fn some(addresses: Vec<IpAddr>) -> Result<Vec<IpAddr>, LookupError> {
    if addresses.is_empty() {
        Err(LookupError::NoAddress)
    } else {
        Ok(addresses)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::sync::atomic::{AtomicU8, Ordering};
    use std::sync::mpsc::channel;
    use std::sync::{Arc, Mutex};

    use futures_util::FutureExt;

    use super::{Lookup, LookupError, MAX_UNDER_WAY, SystemLookup};

    const NO_FILE: &str = "/nowhere/hosts";

    #[tokio::test]
    async fn the_system_knows_this_machine() {
        let addresses = SystemLookup::default().addresses("localhost").await;
        assert!(addresses.unwrap().iter().all(std::net::IpAddr::is_loopback));
    }

    #[tokio::test]
    async fn the_resolver_gets_absolute_names_only() {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let names = Arc::clone(&asked);
        let lookup = SystemLookup::asking(NO_FILE, move |name| {
            names.lock().unwrap().push(name.to_owned());
            Err(LookupError::NoAddress)
        });
        for name in ["hooks.example.com", "hooks"] {
            let found = lookup.addresses(name).await;
            assert!(matches!(found, Err(LookupError::NoAddress)), "{found:?}");
        }
        // Once each: a name without address is not tried in another form.
        assert_eq!(*asked.lock().unwrap(), ["hooks.example.com.", "hooks."]);
    }

    #[tokio::test]
    async fn a_name_of_the_hosts_file_is_not_looked_up() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "10.0.0.7 hooks.example.com\n").unwrap();
        let lookup = SystemLookup::asking(file.path(), |name| panic!("{name} is asked for"));
        let found = lookup.addresses("hooks.example.com").await;
        assert_eq!(found.unwrap(), [Ipv4Addr::new(10, 0, 0, 7)]);
    }

    #[tokio::test]
    async fn a_name_that_cannot_be_has_no_address() {
        let long = format!("{}.invalid", "a".repeat(64));
        let found = SystemLookup::default().addresses(&long).await;
        assert!(matches!(found, Err(LookupError::NoAddress)), "{found:?}");
    }

    #[tokio::test]
    async fn a_name_is_asked_for_once_at_a_time_and_its_answer_not_kept() {
        let (release, released) = channel();
        let released = Mutex::new(released);
        let asked = AtomicU8::new(0);
        // The address is the number of the query.
        let lookup = SystemLookup::asking(NO_FILE, move |_name| {
            let nth = asked.fetch_add(1, Ordering::SeqCst) + 1;
            released.lock().unwrap().recv().unwrap();
            Ok(vec![Ipv4Addr::new(10, 0, 0, nth).into()])
        });
        let both = async { tokio::join!(lookup.addresses("a.b"), lookup.addresses("a.b")) };
        let (answers, sent) = tokio::join!(both, async { release.send(()) });
        sent.unwrap();
        assert_eq!(answers.0.unwrap(), [Ipv4Addr::new(10, 0, 0, 1)]);
        assert_eq!(answers.1.unwrap(), [Ipv4Addr::new(10, 0, 0, 1)]);
        release.send(()).unwrap();
        let anew = lookup.addresses("a.b").await.unwrap();
        assert_eq!(anew, [Ipv4Addr::new(10, 0, 0, 2)]);
    }

    #[tokio::test]
    async fn a_name_that_hangs_holds_one_thread_and_no_other_name() {
        let (release, released) = channel::<()>();
        let released = Mutex::new(released);
        let hanging = Arc::new(AtomicU8::new(0));
        let count = Arc::clone(&hanging);
        let lookup = SystemLookup::asking(NO_FILE, move |name| {
            if name == "hangs.example.com." {
                count.fetch_add(1, Ordering::SeqCst);
                let _ = released.lock().unwrap().recv();
            }
            Ok(vec![Ipv4Addr::LOCALHOST.into()])
        });
        for _ in 0..20 {
            // The caller gives up, as an attempt does.
            let given_up = lookup.addresses("hangs.example.com").now_or_never();
            assert!(given_up.is_none());
        }
        assert!(lookup.addresses("answers.example.com").await.is_ok());
        while hanging.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        // Before the release: a call after the answer is a query of its own.
        assert_eq!(hanging.load(Ordering::SeqCst), 1);
        drop(release);
        assert!(lookup.addresses("hangs.example.com").await.is_ok());
    }

    #[tokio::test]
    async fn names_that_hang_leave_threads_to_others() {
        let (release, released) = channel::<()>();
        let released = Mutex::new(released);
        let lookup = SystemLookup::asking(NO_FILE, move |_name| {
            let _ = released.lock().unwrap().recv();
            Ok(vec![Ipv4Addr::LOCALHOST.into()])
        });
        for n in 0..MAX_UNDER_WAY {
            let given_up = lookup.addresses(&format!("{n}.example.com")).now_or_never();
            assert!(given_up.is_none());
        }
        let refused = lookup.addresses("further.example.com").now_or_never();
        assert!(matches!(refused, Some(Err(LookupError::Unavailable(_)))));
        let asked_for = lookup.addresses("0.example.com").now_or_never();
        assert!(asked_for.is_none());
        drop(release);
        assert!(lookup.addresses("0.example.com").await.is_ok());
    }
}
