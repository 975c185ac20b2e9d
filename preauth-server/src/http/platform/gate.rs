//! The operator token, checked before everything else.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use preauth_core::ErrorCode;
use salvo::http::header::HOST;
use salvo::http::{Request, Response};
use salvo::{Depot, FlowCtrl, Handler, async_trait};
use secrecy::zeroize::Zeroizing;

use crate::clock::Clock;
use crate::http::authorization::bearer;
use crate::http::client_address::ClientAddress;
use crate::http::error::ApiError;
use crate::http::handler;
use crate::http::unauthenticated::UnauthenticatedLimiter;
use crate::secret::{CHALLENGE_HEADER, Challenge, OperatorTokens, Proof};

use super::PREFIX;

/// Admits requests with the operator token, and limits those with a wrong one.
#[derive(Clone)]
pub struct OperatorGate {
    tokens: Arc<OperatorTokens>,
    limiter: UnauthenticatedLimiter,
    clock: Arc<dyn Clock>,
}

impl OperatorGate {
    /// A gate for these tokens, with the limiter for failed attempts.
    #[must_use]
    pub fn new(
        tokens: Arc<OperatorTokens>,
        limiter: UnauthenticatedLimiter,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            tokens,
            limiter,
            clock,
        }
    }

    /// Refuses a request without the operator token. A valid token is never limited, so that an attacker
    /// behind the same address cannot lock out operators.
    pub(super) fn validate(&self, req: &Request) -> Result<(), ApiError> {
        let presented = bearer(req).map(Zeroizing::new);
        if presented.is_some_and(|it| self.tokens.admit(&it, self.clock.now())) {
            return Ok(());
        }
        Err(self.refusal(req))
    }

    /// The server's half of a handshake, for a caller that has proven that it holds a token.
    pub(super) fn prove(&self, req: &Request, address: SocketAddr) -> Result<Proof, ApiError> {
        let challenge = req.header::<String>(CHALLENGE_HEADER);
        let challenge = challenge.and_then(|text| text.parse::<Challenge>().ok());
        let host = req.header::<String>(HOST).unwrap_or_default();
        let proof = challenge.and_then(|it| self.tokens.prove(&it, &host, address));
        proof.ok_or_else(|| self.refusal(req))
    }

    fn refusal(&self, req: &Request) -> ApiError {
        let client = ClientAddress::of_request(req);
        let counted = self.limiter.count(client, self.clock.now());
        match counted {
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
            && let Err(refusal) = self.0.validate(req)
        {
            handler::refuse(refusal, depot, res);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ErrorCode, OperatorGate, UnauthenticatedLimiter};
    use crate::clock::SystemClock;
    use crate::secret::OperatorToken;
    use salvo::http::Request;
    use salvo::http::header::{AUTHORIZATION, HeaderValue};
    use std::sync::Arc;

    fn request(headers: &[&'static str]) -> Request {
        let mut req = Request::new();
        for header in headers {
            req.headers_mut()
                .append(AUTHORIZATION, HeaderValue::from_static(header));
        }
        req
    }

    #[test]
    fn only_the_operator_token_is_admitted() {
        let token = OperatorToken::parse("operator-token-of-the-tests").unwrap();
        let tokens = Arc::new(token.into());
        let limiter = UnauthenticatedLimiter::unlimited();
        let gate = OperatorGate::new(tokens, limiter, Arc::new(SystemClock));
        let right = request(&["Bearer operator-token-of-the-tests"]);
        assert!(gate.validate(&right).is_ok());
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
            let error = gate.validate(&request(refused)).unwrap_err();
            assert_eq!(error.code, ErrorCode::PlatformTokenInvalid, "{refused:?}");
        }
    }
}
