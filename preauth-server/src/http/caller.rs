//! The caller of the integration API, the permissions of its key, and its remaining rate window.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use preauth_core::ErrorCode;
use preauth_core::access::{KeyRefusal, KeyState, KeyUse, decide_use, may_offer};
use preauth_core::operation::Actor;
use preauth_core::port::Viewer;
use preauth_core::value::{ApiKeyId, CompanyId, CompanyKind, Scope, Timestamp, UserId};
use preauth_core::wire::header;
use salvo::http::Request;
use tokio::time::Instant;

use crate::access::{Access, KeyHash, KeyRecord, RateLimit, Window};
use crate::clock::Clock;

use crate::access::{PREFIX as KEY_PREFIX, hash_of_presented};
use crate::fair::{Tenant, charged_to};
use crate::live::Live;

use super::authorization::bearer;
use super::client_address::ClientAddress;
use super::error::ApiError;
use super::held;
use super::known_keys::KnownKeys;
use super::messages;
use super::reply::Reply;
use super::tenants::Tenants;
use super::unauthenticated::UnauthenticatedLimiter;
use super::writes_under_way::{UnderWay, WritesUnderWay};

/// Maximum time between the look-up of a key and the command. A later command, for example after a long
/// body, looks the key up again.
pub(super) const ADMISSION_AGE: Duration = Duration::from_secs(1);

/// An authenticated and authorized caller.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// The key that was presented.
    pub key: ApiKeyId,
    /// The user responsible for the key.
    pub user: UserId,
    /// The company it belongs to.
    pub company: CompanyId,
    /// That company's head office.
    pub head_office: CompanyId,
    /// The kind of company.
    pub kind: CompanyKind,
    /// The key's remaining rate window.
    pub window: Option<WindowLeft>,
    /// When the key was looked up.
    pub admitted_at: Instant,
}

impl Caller {
    /// The operations that this caller may see.
    #[must_use]
    pub fn viewer(self) -> Viewer {
        Viewer::of_company(self.company, self.head_office)
    }

    /// The tenant that the request counts for.
    #[must_use]
    pub const fn tenant(self) -> Tenant {
        Tenant::HeadOffice(self.head_office)
    }

    /// Whether its key was looked up so long ago that it may have been revoked meanwhile.
    #[must_use]
    pub fn is_to_be_checked_again(self) -> bool {
        self.admitted_at.elapsed() > ADMISSION_AGE
    }

    /// The actor recorded in events.
    #[must_use]
    pub const fn actor(self) -> Actor {
        Actor::ApiKey {
            key: self.key,
            user: self.user,
        }
    }

    /// Refuses every caller except the head office of a construction company.
    pub fn require_construction_head_office(self) -> Result<(), ApiError> {
        if may_offer(self.kind, self.company == self.head_office) {
            Ok(())
        } else {
            Err(ApiError::new(ErrorCode::PreAuthOnlyConstrutora))
        }
    }
}

/// Authenticates, limits and authorizes requests to the integration API.
pub struct Gate {
    access: Arc<dyn Access>,
    clock: Arc<dyn Clock>,
    limit: Live<RateLimit>,
    limiter: UnauthenticatedLimiter,
    known: KnownKeys,
    tenants: Tenants,
    writes: WritesUnderWay,
}

/// The outcome of the gate: a caller or a refusal, and the rate window that is added to every
/// answer to a valid key.
#[derive(Debug)]
pub struct Admission {
    /// The caller, or the refusal.
    pub caller: Result<Caller, ApiError>,
    /// The key, for the log, if it was recognised.
    pub key: Option<ApiKeyId>,
    /// The key's remaining rate window, if the request was counted.
    pub window: Option<WindowLeft>,
    /// A write of a head office that was known; it is under way until this is dropped.
    pub(super) under_way: Option<UnderWay>,
}

/// The remainder of a key's rate window.
#[derive(Clone, Copy, Debug)]
pub struct WindowLeft {
    limit: RateLimit,
    remaining: u32,
    reset_seconds: u32,
}

impl Gate {
    /// A gate over `access`.
    #[must_use]
    pub fn new(
        access: Arc<dyn Access>,
        clock: Arc<dyn Clock>,
        limit: Live<RateLimit>,
        limiter: UnauthenticatedLimiter,
        writes: WritesUnderWay,
    ) -> Self {
        Self {
            known: KnownKeys::new(Arc::clone(&access)),
            access,
            clock,
            limit,
            limiter,
            tenants: Tenants::default(),
            writes,
        }
    }

    /// Checks the key, its rate limit, suspension, scope and responsible user, in this order.
    pub async fn admit(&self, req: &Request, scope: Scope) -> Admission {
        let now = self.clock.now();
        let (entry, under_way) = match self.entry(req, now).await {
            Ok(entered) => entered,
            Err(refusal) => {
                return Admission {
                    caller: Err(refusal),
                    key: None,
                    window: None,
                    under_way: None,
                };
            }
        };
        let window = entry.window.map(|window| self.left(window, now));
        let caller = self.authorize(&entry, window, scope, now, req);
        Admission {
            caller,
            key: Some(entry.key),
            window,
            under_way,
        }
    }

    /// Checks a caller again whose body took long to arrive: its key may have been revoked or expired,
    /// or its company suspended, meanwhile. The request is not counted again.
    pub async fn check_again(
        &self,
        caller: &Caller,
        scope: Scope,
        req: &Request,
    ) -> Result<(), ApiError> {
        if !caller.is_to_be_checked_again() {
            return Ok(());
        }
        let now = self.clock.now();
        let found = match presented_key(req) {
            Some(hash) => self.access.find(&hash).await?,
            None => None,
        };
        let invalid = || self.refuse_unauthenticated(req, ErrorCode::ApiKeyInvalid, now);
        let entry = found.ok_or_else(invalid)?;
        self.authorize(&entry, None, scope, now, req).map(drop)
    }

    async fn entry(
        &self,
        req: &Request,
        now: Timestamp,
    ) -> Result<(KeyRecord, Option<UnderWay>), ApiError> {
        let invalid = || self.refuse_unauthenticated(req, ErrorCode::ApiKeyInvalid, now);
        let hash = presented_key(req).ok_or_else(invalid)?;
        let tenant = self.tenants.of(&hash);
        let under_way = match tenant {
            Tenant::HeadOffice(head_office) if held::is_write(req) => {
                let begun = self.writes.begin(head_office);
                Some(begun.map_err(ApiError::unavailable)?)
            }
            _ => None,
        };
        let client = ClientAddress::of_request(req);
        if let Some(seconds) = self.limiter.exhausted(client, now)
            && !self.known.contains(hash.beginning()).await?
        {
            return Err(ApiError::new(ErrorCode::RateLimited).retry_after(seconds));
        }
        let look_up = self.access.authenticate(&hash, self.limit.get(), now);
        let entry = charged_to(tenant, look_up).await?.ok_or_else(invalid)?;
        self.tenants.remember(hash, entry.head_office);
        Ok((entry, under_way))
    }

    fn authorize(
        &self,
        entry: &KeyRecord,
        window: Option<WindowLeft>,
        scope: Scope,
        now: Timestamp,
        req: &Request,
    ) -> Result<Caller, ApiError> {
        let counted = entry.window.map_or(0, |window| window.count);
        let key = KeyUse {
            state: KeyState::at(now, entry.expires_at, entry.revoked_at),
            is_over_limit: window.is_some_and(|window| counted > window.limit.requests),
            company_is_suspended: entry.company_is_suspended,
            scopes: entry.scopes,
            user_is_active: entry.user_is_active,
            permissions: entry.permissions,
        };
        decide_use(&key, scope).map_err(|refusal| match refusal {
            KeyRefusal::Revoked => self.refuse_unauthenticated(req, ErrorCode::ApiKeyRevoked, now),
            KeyRefusal::Expired => self.refuse_unauthenticated(req, ErrorCode::ApiKeyExpired, now),
            KeyRefusal::LimitReached => window.map_or_else(
                || ApiError::new(ErrorCode::RateLimited),
                WindowLeft::used_up,
            ),
            KeyRefusal::CompanySuspended => {
                ApiError::new(ErrorCode::RbacForbidden).message(messages::SUSPENDED)
            }
            KeyRefusal::ScopeMissing => ApiError::new(ErrorCode::IntegrationScopeForbidden),
            KeyRefusal::UserInactive => ApiError::new(ErrorCode::RbacForbidden),
            KeyRefusal::UserNotPermitted => {
                ApiError::new(ErrorCode::IntegrationResponsibleForbidden)
            }
        })?;
        Ok(Caller {
            key: entry.key,
            user: entry.user,
            company: entry.company,
            head_office: entry.head_office,
            kind: entry.company_kind,
            window,
            admitted_at: Instant::now(),
        })
    }

    /// The refusal of a request without a valid key: the given code, or 429 when its address sent
    /// too many.
    fn refuse_unauthenticated(&self, req: &Request, code: ErrorCode, now: Timestamp) -> ApiError {
        match self.limiter.count(ClientAddress::of_request(req), now) {
            Ok(()) if code == ErrorCode::ApiKeyInvalid && !resembles_key(req) => {
                ApiError::new(code).message(messages::NO_BEARER_KEY)
            }
            Ok(()) => ApiError::new(code),
            Err(seconds) => ApiError::new(ErrorCode::RateLimited).retry_after(seconds),
        }
    }

    fn left(&self, window: Window, now: Timestamp) -> WindowLeft {
        let limit = self.limit.get();
        let length = TimeDelta::seconds(limit.window_seconds.into());
        WindowLeft {
            limit,
            remaining: limit.requests.saturating_sub(window.count),
            reset_seconds: seconds_until(window.started_at.saturating_add(length), now),
        }
    }
}

impl WindowLeft {
    /// The refusal of a key whose window is used up.
    #[must_use]
    pub const fn used_up(self) -> ApiError {
        ApiError::new(ErrorCode::RateLimited).retry_after(self.reset_seconds)
    }

    /// The window to add to a refusal with this code: none for requests without a valid key and for
    /// unknown paths, and zero remaining when the limit was reached.
    #[must_use]
    pub const fn beside(self, code: ErrorCode) -> Option<Self> {
        match code {
            ErrorCode::ApiKeyInvalid
            | ErrorCode::ApiKeyRevoked
            | ErrorCode::ApiKeyExpired
            | ErrorCode::NotFound
            | ErrorCode::MethodNotAllowed => None,
            ErrorCode::RateLimited => Some(Self {
                remaining: 0,
                ..self
            }),
            _ => Some(self),
        }
    }

    /// Adds the window to an answer (contract, "Limits").
    #[must_use]
    pub fn add_to(self, reply: Reply) -> Reply {
        let Self {
            limit:
                RateLimit {
                    requests,
                    window_seconds,
                },
            remaining,
            reset_seconds,
        } = self;
        reply
            .header(header::RATE_LIMIT_LIMIT, &requests.to_string())
            .header(header::RATE_LIMIT_REMAINING, &remaining.to_string())
            .header(header::RATE_LIMIT_RESET, &reset_seconds.to_string())
            .header(
                "ratelimit-policy",
                &format!("\"default\";q={requests};w={window_seconds}"),
            )
            .header(
                "ratelimit",
                &format!("\"default\";r={remaining};t={reset_seconds}"),
            )
    }
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// The hash of the one key that a request presents; `None` when it presents none in the form of a key.
fn presented_key(req: &Request) -> Option<KeyHash> {
    hash_of_presented(&bearer(req)?)
}

/// Whether a request presents something that begins as every key does. Whether such a key exists makes no
/// difference.
fn resembles_key(req: &Request) -> bool {
    bearer(req).is_some_and(|token| token.starts_with(KEY_PREFIX))
}

/// Whole seconds until `end`, rounded up, at least one.
fn seconds_until(end: Timestamp, now: Timestamp) -> u32 {
    let millis = end.since(now).num_milliseconds().max(1);
    let seconds = millis.unsigned_abs().div_ceil(1000);
    u32::try_from(seconds).unwrap_or(u32::MAX)
}
