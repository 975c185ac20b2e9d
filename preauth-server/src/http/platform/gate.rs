//! The operator's token, checked before everything else.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use chrono::TimeDelta;
use preauth_core::ErrorCode;
use preauth_core::access::KeyState;
use preauth_core::value::Timestamp;
use salvo::http::header::HOST;
use salvo::http::{Request, Response};
use salvo::{Depot, FlowCtrl, Handler, async_trait};
use secrecy::zeroize::Zeroizing;

use crate::access::{ConsoleSecret, HashBeginning, KeyHash};
use crate::clock::Clock;
use crate::directory::{Operator, Operators, SessionHolder};
use crate::hold::Hold;
use crate::http::authorization::bearer;
use crate::http::client_address::ClientAddress;
use crate::http::error::ApiError;
use crate::http::handler;
use crate::http::known_keys::KnownKeys;
use crate::http::unauthenticated::UnauthenticatedLimiter;
use crate::log;
use crate::secret::{CHALLENGE_HEADER, Challenge, Named, OperatorTokens, Proof};

use super::PREFIX;
use super::audited::Refusals;
use super::calling_operator::CallingOperator;
use super::in_process::known_operator;

/// Minimum time between two records of the use of one token.
const NOTED_AGAIN_AFTER: TimeDelta = TimeDelta::minutes(1);

/// Admits requests with an operator's token, and limits those with a wrong one.
#[derive(Clone)]
pub struct OperatorGate {
    tokens: Arc<OperatorTokens>,
    operators: Arc<dyn Operators>,
    known: Arc<KnownKeys>,
    limiter: UnauthenticatedLimiter,
    clock: Arc<dyn Clock>,
    hold: Hold,
    refusals: Refusals,
}

impl OperatorGate {
    /// A gate for the configured tokens and those of named operators, with the limiter for failed
    /// attempts. An instance on hold records no use.
    #[must_use]
    pub fn new(
        tokens: Arc<OperatorTokens>,
        operators: Arc<dyn Operators>,
        limiter: UnauthenticatedLimiter,
        clock: Arc<dyn Clock>,
        hold: Hold,
    ) -> Self {
        Self {
            tokens,
            known: Arc::new(KnownKeys::of_operators(Arc::clone(&operators))),
            operators,
            limiter,
            clock,
            hold,
            refusals: Refusals::default(),
        }
    }

    /// The operator whose token a request presents, or the refusal. A valid token is never limited, so
    /// that an attacker behind the same address cannot lock out operators. Each request looks a named
    /// operator up, so that a revocation takes effect at once.
    pub(super) async fn admit(&self, req: &Request) -> Result<CallingOperator, ApiError> {
        if let Some(known) = known_operator(req) {
            return Ok(known);
        }
        let Some(presented) = bearer(req).map(Zeroizing::new) else {
            return Err(self.refusal(req));
        };
        self.admit_token(&presented, req).await
    }

    /// The operator with this token, or the refusal.
    pub(in crate::http) async fn admit_token(
        &self,
        presented: &str,
        req: &Request,
    ) -> Result<CallingOperator, ApiError> {
        let now = self.clock.now();
        if self.tokens.admit(presented, now) {
            return Ok(CallingOperator::root());
        }
        let Some(presented) = Named::parse(presented) else {
            return Err(self.refusal(req));
        };
        let found = self.active(presented.beginning(), req, now).await?;
        match found {
            Some((operator, hash)) if self.tokens.admit_named(&presented, &hash) => {
                self.note_use(&operator, now).await;
                Ok(operator.into())
            }
            Some(_) | None => Err(self.refusal(req)),
        }
    }

    /// The operator of a session, unless the token with which it was opened is valid no longer.
    pub(in crate::http) fn admit_session(
        &self,
        secret: &ConsoleSecret,
        holder: SessionHolder,
        operator: Option<Operator>,
    ) -> Option<CallingOperator> {
        match holder {
            SessionHolder::Root { proof } => self
                .tokens
                .admit_sealed(secret.bytes(), &proof)
                .then(CallingOperator::root),
            SessionHolder::Named(id) => operator
                .filter(|operator| operator.id == id)
                .filter(|operator| operator.state(self.clock.now()) == KeyState::Active)
                .map(Into::into),
        }
    }

    /// Whether this refusal of an operator's role is the first of its minute.
    pub(super) fn is_first_refusal(
        &self,
        calling: &CallingOperator,
        action: &'static str,
        now: Timestamp,
    ) -> bool {
        self.refusals.is_first((calling.id, action), now)
    }

    /// The server's half of a handshake, for a caller that has proven that it holds a token.
    pub(super) async fn prove(
        &self,
        req: &Request,
        address: SocketAddr,
    ) -> Result<Proof, ApiError> {
        let challenge = req.header::<String>(CHALLENGE_HEADER);
        let challenge = challenge.and_then(|text| text.parse::<Challenge>().ok());
        let host = req.header::<String>(HOST).unwrap_or_default();
        let Some(challenge) = challenge else {
            return Err(self.refusal(req));
        };
        if let Some(proof) = self.tokens.prove(&challenge, &host, address) {
            return Ok(proof);
        }
        let Some(named) = challenge.named() else {
            return Err(self.refusal(req));
        };
        let found = self.active(named, req, self.clock.now()).await?;
        let tokens = &self.tokens;
        let proof =
            found.and_then(|(_, hash)| tokens.prove_named(&challenge, &hash, &host, address));
        proof.ok_or_else(|| self.refusal(req))
    }

    /// The operator whose token's hash begins so, if the token is valid now. A client that sent too many
    /// wrong tokens causes no further look-ups of unknown ones.
    async fn active(
        &self,
        token: HashBeginning,
        req: &Request,
        now: Timestamp,
    ) -> Result<Option<(Operator, KeyHash)>, ApiError> {
        let client = ClientAddress::of_request(req);
        if let Some(seconds) = self.limiter.exhausted(client, now)
            && !self.known.contains(token).await?
        {
            return Err(ApiError::new(ErrorCode::RateLimited).retry_after(seconds));
        }
        let found = self.operators.operator_of_token(token).await?;
        Ok(found.filter(|(operator, _)| operator.state(now) == KeyState::Active))
    }

    /// Records the use of a token, which must not fail a request.
    async fn note_use(&self, operator: &Operator, now: Timestamp) {
        let is_noted = operator
            .last_used_at
            .is_some_and(|noted_at| now.since(noted_at) < NOTED_AGAIN_AFTER);
        if is_noted || self.hold.is_held() {
            return;
        }
        if let Err(error) = self.operators.note_operator_use(operator.id, now).await {
            let error = log::chain(&error);
            tracing::debug!(target: "operator", operator = %operator.id, error, "use not recorded");
        }
    }

    /// Whether the client of a request has sent too many wrong tokens or cookies.
    pub(in crate::http) fn is_exhausted(&self, req: &Request) -> bool {
        let client = ClientAddress::of_request(req);
        self.limiter.exhausted(client, self.clock.now()).is_some()
    }

    /// Counts a request that opened nothing; `Err` with the seconds to wait when there were too many.
    pub(in crate::http) fn count_unauthenticated(&self, req: &Request) -> Result<(), u32> {
        let client = ClientAddress::of_request(req);
        self.limiter.count(client, self.clock.now())
    }

    fn refusal(&self, req: &Request) -> ApiError {
        match self.count_unauthenticated(req) {
            Ok(()) => ApiError::new(ErrorCode::PlatformTokenInvalid),
            Err(seconds) => ApiError::new(ErrorCode::RateLimited).retry_after(seconds),
        }
    }
}

impl fmt::Debug for OperatorGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperatorGate").finish_non_exhaustive()
    }
}

/// A layer of the private listener's service that checks the token where no endpoint does: on
/// unknown paths and methods of this API. Without the token they cannot be distinguished from known
/// ones.
#[derive(Clone, Debug)]
pub(super) struct Unmatched(pub(super) OperatorGate);

#[async_trait]
impl Handler for Unmatched {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        // A status that is set before the service's layers run means that no route matched.
        let is_unmatched = res.status_code.is_some();
        if is_unmatched
            && req.uri().path().starts_with(PREFIX)
            && let Err(refusal) = self.0.admit(req).await
        {
            handler::refuse(refusal, depot, res);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};

    use async_trait::async_trait;
    use preauth_core::access::OperatorRole;
    use preauth_core::port::{IdSource as _, NewReply, PageRequest, Unavailable};
    use preauth_core::value::{OperatorId, OperatorName};
    use salvo::http::Request;
    use salvo::http::header::{AUTHORIZATION, HeaderValue};
    use secrecy::ExposeSecret;

    use super::*;
    use crate::access::NewOperatorToken;
    use crate::clock::SystemClock;
    use crate::directory::{DirectoryError, Page};
    use crate::ids::RandomIds;
    use crate::secret::OperatorToken;

    const CONFIGURED: &str = "operator-token-of-the-tests";

    /// One operator, if any; counts look-ups and records of use.
    #[derive(Default)]
    struct Staff {
        operator: Mutex<Option<(Operator, KeyHash)>>,
        look_ups: AtomicU32,
        uses: AtomicU32,
    }

    impl Staff {
        fn employ(&self, token: &NewOperatorToken, valid_until: Option<Timestamp>) {
            let now = SystemClock.now();
            let operator = Operator {
                id: OperatorId::new(RandomIds.uuid(now)),
                name: OperatorName::parse("ana").unwrap(),
                role: OperatorRole::Viewer,
                created_at: now,
                created_by: OperatorName::root(),
                valid_until,
                revoked_at: None,
                last_used_at: None,
            };
            *self.operator.lock().unwrap() = Some((operator, token.hash));
        }
    }

    #[async_trait]
    impl Operators for Staff {
        async fn add_operator(
            &self,
            _operator: &Operator,
            _token: &KeyHash,
            _reply: Option<&NewReply>,
        ) -> Result<(), DirectoryError> {
            Err(DirectoryError::Conflict)
        }

        async fn operator(&self, _id: OperatorId) -> Result<Option<Operator>, Unavailable> {
            Ok(None)
        }

        async fn operators(&self, _page: PageRequest) -> Result<Page<Operator>, Unavailable> {
            let items = Vec::new();
            Ok(Page {
                items,
                total: 0,
                is_cut: false,
            })
        }

        async fn operator_of_token(
            &self,
            beginning: HashBeginning,
        ) -> Result<Option<(Operator, KeyHash)>, Unavailable> {
            self.look_ups.fetch_add(1, Ordering::Relaxed);
            let found = self.operator.lock().unwrap().clone();
            Ok(found.filter(|(_, hash)| hash.beginning() == beginning))
        }

        async fn operator_hashes(
            &self,
            after: OperatorId,
            _limit: u32,
        ) -> Result<Vec<(OperatorId, KeyHash)>, Unavailable> {
            let found = self.operator.lock().unwrap().clone();
            let listed = found.map(|(operator, hash)| (operator.id, hash));
            Ok(listed.into_iter().filter(|(id, _)| *id > after).collect())
        }

        async fn note_operator_use(
            &self,
            _id: OperatorId,
            at: Timestamp,
        ) -> Result<(), Unavailable> {
            self.uses.fetch_add(1, Ordering::Relaxed);
            if let Some((operator, _)) = &mut *self.operator.lock().unwrap() {
                operator.last_used_at = Some(at);
            }
            Ok(())
        }

        async fn revoke_operator(
            &self,
            _id: OperatorId,
            _at: Timestamp,
        ) -> Result<Operator, DirectoryError> {
            Err(DirectoryError::NotFound)
        }
    }

    fn gate(staff: &Arc<Staff>, limiter: UnauthenticatedLimiter) -> OperatorGate {
        let token = OperatorToken::parse(CONFIGURED).unwrap();
        let operators = Arc::<Staff>::clone(staff);
        let clock = Arc::new(SystemClock);
        OperatorGate::new(
            Arc::new(token.into()),
            operators,
            limiter,
            clock,
            Hold::default(),
        )
    }

    fn request(headers: &[&str]) -> Request {
        let mut req = Request::new();
        for header in headers {
            req.headers_mut()
                .append(AUTHORIZATION, HeaderValue::from_str(header).unwrap());
        }
        req
    }

    fn bearing(token: &NewOperatorToken) -> Request {
        request(&[&format!("Bearer {}", token.clear_text.expose_secret())])
    }

    #[tokio::test]
    async fn only_the_operator_token_is_admitted() {
        let gate = gate(&Arc::default(), UnauthenticatedLimiter::unlimited());
        let right = request(&["Bearer operator-token-of-the-tests"]);
        assert!(gate.admit(&right).await.unwrap().name.is_root());
        for refused in [
            &[][..],
            &["Bearer operator-token-of-the-testS"],
            &["Bearer operator-token-of-the-test"],
            &["Basic operator-token-of-the-tests"],
            &["operator-token-of-the-tests"],
            &[
                "Bearer operator-token-of-the-tests",
                "Bearer operator-token-of-the-tests",
            ],
        ] {
            let error = gate.admit(&request(refused)).await.unwrap_err();
            assert_eq!(error.code, ErrorCode::PlatformTokenInvalid, "{refused:?}");
        }
    }

    #[tokio::test]
    async fn a_named_operator_is_admitted_until_the_end_of_the_token() {
        let staff = Arc::<Staff>::default();
        let gate = gate(&staff, UnauthenticatedLimiter::unlimited());
        let token = NewOperatorToken::generate();
        assert!(gate.admit(&bearing(&token)).await.is_err());
        let now = SystemClock.now();
        staff.employ(&token, Some(now.saturating_add(TimeDelta::hours(1))));
        for _ in 0..3 {
            let calling = gate.admit(&bearing(&token)).await.unwrap();
            assert_eq!(calling.name.as_str(), "ana");
            assert_eq!(calling.role, OperatorRole::Viewer);
        }
        assert_eq!(staff.uses.load(Ordering::Relaxed), 1, "once a minute");
        let other = NewOperatorToken::generate();
        assert!(gate.admit(&bearing(&other)).await.is_err());
        staff.employ(&token, Some(now));
        let error = gate.admit(&bearing(&token)).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::PlatformTokenInvalid);
    }

    #[tokio::test]
    async fn unknown_tokens_of_a_client_that_sent_too_many_are_not_looked_up() {
        let staff = Arc::<Staff>::default();
        let gate = gate(&staff, UnauthenticatedLimiter::limited());
        let guess = bearing(&NewOperatorToken::generate());
        for _ in 0..600 {
            let error = gate.admit(&guess).await.unwrap_err();
            assert_eq!(error.code, ErrorCode::PlatformTokenInvalid);
        }
        let error = gate.admit(&guess).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::RateLimited);
        assert_eq!(staff.look_ups.load(Ordering::Relaxed), 600);
        let token = NewOperatorToken::generate();
        staff.employ(&token, None);
        assert!(gate.admit(&bearing(&token)).await.is_ok());
    }
}
