//! The open connections of a listener: the maximum per client and in all, and which of them is
//! closed for a new one.
//!
//! A connection is idle while no request is in progress: before its first head is complete, and
//! from the last byte of an answer to the next head. Only idle connections are closed here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use salvo::http::HeaderMap;
use tokio::sync::{Notify, oneshot};

use crate::http::client_address::{CameByTls, ClientAddress, ClientGroup, Networks};

/// The connection limits of a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Maximum in all.
    pub max_connections: usize,
    /// Maximum per client: an IPv4 address, or an IPv6 /64.
    pub max_per_client: usize,
    /// Clients without a limit of their own.
    pub uncounted: Networks,
    /// Proxies whose `X-Forwarded-For` names the client. Their connections count for that client
    /// while a request is in progress.
    pub trusted_proxies: Networks,
}

impl Default for ConnectionLimits {
    /// No uncounted clients and no trusted proxies.
    fn default() -> Self {
        Self {
            max_connections: 2_048,
            max_per_client: usize::MAX,
            uncounted: Networks::default(),
            trusted_proxies: Networks::default(),
        }
    }
}

/// The open connections of one listener; clones share them.
#[derive(Clone, Debug)]
pub(super) struct Registry(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    limits: ConnectionLimits,
    state: Mutex<State>,
    /// Notified when a connection has ended or become idle.
    has_room: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The next number of a connection, or of a moment at which one became idle.
    next: u64,
    open: HashMap<u64, Open>,
    /// Counted connections, and requests in progress through proxies.
    of_client: HashMap<ClientGroup, usize>,
}

#[derive(Debug)]
struct Open {
    /// The client that the connection counts for.
    client: Option<ClientGroup>,
    /// The client that its request in progress counts for, behind a proxy.
    forwarded: Option<ClientGroup>,
    /// When it became idle; `None` while a request is in progress.
    idle_since: Option<u64>,
    /// Dropped to evict the connection.
    _keep: oneshot::Sender<()>,
}

/// A place among the open connections, released on drop.
#[derive(Debug)]
pub(super) struct Place {
    shared: Arc<Shared>,
    number: u64,
    peer: ClientAddress,
}

/// Completes when the connection is evicted.
pub(super) type Evicted = oneshot::Receiver<()>;

/// Why there is no place for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// The client has reached its limit, each connection with a request in progress.
    Client(ClientGroup),
    /// The listener has reached its limit.
    Listener,
}

/// The outcome of starting a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    /// It is in progress.
    UnderWay,
    /// Its client has too many requests in progress through a trusted proxy.
    Crowded,
    /// Its connection was evicted at the same moment.
    Evicted,
}

impl Registry {
    pub(super) fn new(limits: ConnectionLimits) -> Self {
        Self(Arc::new(Shared {
            limits,
            state: Mutex::default(),
            has_room: Notify::new(),
        }))
    }

    /// A place for a connection of `peer`; if there is none, the longest idle connection is
    /// evicted.
    pub(super) fn admit(&self, peer: ClientAddress) -> Result<(Place, Evicted), Full> {
        let Shared { limits, .. } = &*self.0;
        let is_counted = !limits.uncounted.contain(peer) && !limits.trusted_proxies.contain(peer);
        let client = is_counted.then(|| peer.group());
        let mut state = self.0.lock();
        if let Some(client) = client
            && state.count(client) >= limits.max_per_client
            && !state.evict(|open| open.client == Some(client))
        {
            return Err(Full::Client(client));
        }
        // Counted connections are evicted first, so that they cannot displace a proxy's.
        if state.open.len() >= limits.max_connections
            && !state.evict(|open| open.client.is_some())
            && !state.evict(|_| true)
        {
            return Err(Full::Listener);
        }
        if let Some(client) = client {
            state.add(client);
        }
        let (keep, evicted) = oneshot::channel();
        let number = state.tick();
        let open = Open {
            client,
            forwarded: None,
            idle_since: Some(number),
            _keep: keep,
        };
        state.open.insert(number, open);
        let place = Place {
            shared: Arc::clone(&self.0),
            number,
            peer,
        };
        Ok((place, evicted))
    }

    /// Waits until a failed [`Registry::admit`] may succeed.
    pub(super) async fn room(&self) {
        self.0.has_room.notified().await;
    }
}

impl Place {
    /// The client of a request with these headers.
    pub(super) fn client(&self, headers: &HeaderMap) -> ClientAddress {
        ClientAddress::of(self.peer, headers, &self.shared.limits.trusted_proxies)
    }

    /// Whether a request with these headers reached a proxy by TLS.
    pub(super) fn came_by_tls(&self, headers: &HeaderMap) -> CameByTls {
        CameByTls::of(self.peer, headers, &self.shared.limits.trusted_proxies)
    }

    /// A request of `client` begins.
    pub(super) fn begin(&self, client: ClientAddress) -> Begun {
        let Shared { limits, .. } = &*self.shared;
        let mut state = self.shared.lock();
        let is_forwarded = client != self.peer && !limits.uncounted.contain(client);
        let group = client.group();
        let is_crowded = is_forwarded && state.count(group) >= limits.max_per_client;
        let Some(open) = state.open.get_mut(&self.number) else {
            return Begun::Evicted;
        };
        open.idle_since = None;
        if is_crowded {
            return Begun::Crowded;
        }
        if is_forwarded && open.forwarded.replace(group).is_none() {
            state.add(group);
        }
        Begun::UnderWay
    }

    /// The request in progress is answered in full.
    pub(super) fn end(&self) {
        let mut state = self.shared.lock();
        let now = state.tick();
        let Some(open) = state.open.get_mut(&self.number) else {
            return;
        };
        open.idle_since = Some(now);
        if let Some(client) = open.forwarded.take() {
            state.remove(client);
        }
        drop(state);
        self.shared.has_room.notify_one();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.shared.lock().close(self.number);
        self.shared.has_room.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Evicts the longest idle connection for which `may_go` holds; returns whether there was one.
    fn evict(&mut self, may_go: impl Fn(&Open) -> bool) -> bool {
        let idle = self.open.iter().filter(|(_, open)| may_go(open));
        let idle = idle.filter_map(|(number, open)| Some((open.idle_since?, *number)));
        match idle.min() {
            Some((_, number)) => {
                self.close(number);
                true
            }
            None => false,
        }
    }

    fn close(&mut self, number: u64) {
        if let Some(open) = self.open.remove(&number) {
            for client in [open.client, open.forwarded].into_iter().flatten() {
                self.remove(client);
            }
        }
    }

    fn count(&self, client: ClientGroup) -> usize {
        self.of_client.get(&client).copied().unwrap_or_default()
    }

    fn add(&mut self, client: ClientGroup) {
        let count = self.of_client.entry(client).or_default();
        *count = count.saturating_add(1);
    }

    fn remove(&mut self, client: ClientGroup) {
        if let Some(count) = self.of_client.get_mut(&client) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.of_client.remove(&client);
            }
        }
    }

    fn tick(&mut self) -> u64 {
        self.next = self.next.saturating_add(1);
        self.next
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn client(text: &str) -> ClientAddress {
        ClientAddress::new(text.parse().unwrap())
    }

    fn networks(text: &str) -> Networks {
        Networks(vec![text.parse().unwrap()])
    }

    /// Limits: four connections in all, two per client; loopback is not counted, 10.0.0.0/8 are
    /// proxies.
    fn registry() -> Registry {
        Registry::new(ConnectionLimits {
            max_connections: 4,
            max_per_client: 2,
            uncounted: networks("127.0.0.0/8"),
            trusted_proxies: networks("10.0.0.0/8"),
        })
    }

    fn is_open(evicted: &mut Evicted) -> bool {
        evicted.now_or_never().is_none()
    }

    #[test]
    fn the_longest_idle_connection_of_a_client_gives_way() {
        let (registry, one) = (registry(), client("198.51.100.1"));
        let (first, mut first_open) = registry.admit(one).unwrap();
        let (_second, mut second_open) = registry.admit(one).unwrap();
        assert_eq!(first.begin(one), Begun::UnderWay);
        first.end();
        let _third = registry.admit(one).unwrap();
        assert!(is_open(&mut first_open));
        assert!(!is_open(&mut second_open));
    }

    #[test]
    fn a_request_under_way_is_not_idle() {
        let (registry, one) = (registry(), client("198.51.100.1"));
        let (first, mut first_open) = registry.admit(one).unwrap();
        let (second, mut second_open) = registry.admit(one).unwrap();
        assert_eq!(first.begin(one), Begun::UnderWay);
        assert_eq!(second.begin(one), Begun::UnderWay);
        assert_eq!(registry.admit(one).unwrap_err(), Full::Client(one.group()));
        assert!(is_open(&mut first_open) && is_open(&mut second_open));
        let other = registry.admit(client("198.51.100.2"));
        assert!(other.is_ok());
        second.end();
        assert!(registry.admit(one).is_ok());
        assert!(is_open(&mut first_open) && !is_open(&mut second_open));
        // The request came after the eviction.
        assert_eq!(second.begin(one), Begun::Evicted);
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        let registry = registry();
        let (_first, mut first_open) = registry.admit(client("2001:db8::1")).unwrap();
        let _second = registry.admit(client("2001:db8::2")).unwrap();
        let _third = registry.admit(client("2001:db8::3")).unwrap();
        assert!(!is_open(&mut first_open));
    }

    #[test]
    fn a_full_listener_evicts_a_counted_idle_connection_first() {
        let registry = registry();
        let (_local, mut local_open) = registry.admit(client("127.0.0.1")).unwrap();
        let (_proxy, mut proxy_open) = registry.admit(client("10.0.0.1")).unwrap();
        let (_first, mut first_open) = registry.admit(client("198.51.100.1")).unwrap();
        let (second, mut second_open) = registry.admit(client("198.51.100.2")).unwrap();
        assert_eq!(second.begin(client("198.51.100.2")), Begun::UnderWay);
        let (third, _open) = registry.admit(client("198.51.100.3")).unwrap();
        assert!(!is_open(&mut first_open));
        assert_eq!(third.begin(client("198.51.100.3")), Begun::UnderWay);
        let _fourth = registry.admit(client("198.51.100.4")).unwrap();
        assert!(!is_open(&mut local_open));
        assert!(is_open(&mut proxy_open) && is_open(&mut second_open));
    }

    #[test]
    fn a_listener_full_of_requests_under_way_has_no_place_until_one_ends() {
        let registry = registry();
        let places: Vec<_> = (1..=4)
            .map(|n| registry.admit(client(&format!("198.51.100.{n}"))).unwrap())
            .collect();
        for (place, _) in &places {
            assert_eq!(place.begin(place.peer), Begun::UnderWay);
        }
        let newcomer = client("198.51.100.9");
        assert_eq!(registry.admit(newcomer).unwrap_err(), Full::Listener);
        assert!(registry.room().now_or_never().is_none());
        places[0].0.end();
        assert!(registry.room().now_or_never().is_some());
        assert!(registry.admit(newcomer).is_ok());
    }

    #[test]
    fn a_proxys_connection_counts_for_the_client_of_its_request() {
        let (registry, one) = (registry(), client("198.51.100.1"));
        let places: Vec<_> = (0..3)
            .map(|_| registry.admit(client("10.0.0.1")).unwrap())
            .collect();
        assert_eq!(places[0].0.begin(one), Begun::UnderWay);
        assert_eq!(places[1].0.begin(one), Begun::UnderWay);
        assert_eq!(places[2].0.begin(one), Begun::Crowded);
        places[2].0.end();
        assert_eq!(places[2].0.begin(client("198.51.100.2")), Begun::UnderWay);
        places[2].0.end();
        assert_eq!(registry.admit(one).unwrap_err(), Full::Client(one.group()));
        places[0].0.end();
        assert_eq!(places[2].0.begin(one), Begun::UnderWay);
    }

    #[test]
    fn nothing_is_left_of_connections_that_ended() {
        let (registry, one) = (registry(), client("198.51.100.1"));
        let (place, open) = registry.admit(one).unwrap();
        assert_eq!(place.begin(one), Begun::UnderWay);
        drop((place, open));
        let (proxied, open) = registry.admit(client("10.0.0.1")).unwrap();
        assert_eq!(proxied.begin(one), Begun::UnderWay);
        drop((proxied, open));
        let state = registry.0.lock();
        assert!(state.open.is_empty() && state.of_client.is_empty());
    }
}
