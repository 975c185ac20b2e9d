//! Sessions: opened with an operator token, kept in a cookie, ended by signing out, by time, or with the
//! token.

use chrono::TimeDelta;
use salvo::http::Request;

use crate::access::ConsoleSecret;
use crate::directory::{ConsoleSession, SessionHolder};
use crate::http::error::ApiError;
use crate::http::held;
use crate::http::pages::cookies;
use crate::http::pages::same_origin::came_by_tls;
use crate::http::platform::CallingOperator;
use crate::secret::OperatorTokens;

use super::{Console, PREFIX};

const COOKIE: &str = "preauth_console";
/// Maximum duration of a session.
const LIFETIME: TimeDelta = TimeDelta::hours(8);
/// The same in a sandbox, whose clock jumps; the browser forgets the cookie after [`LIFETIME`].
const LIFETIME_IN_SANDBOX: TimeDelta = TimeDelta::days(3_650);

/// A session that is valid now.
pub(super) struct Signed {
    pub(super) secret: ConsoleSecret,
    pub(super) operator: CallingOperator,
}

impl Console {
    /// The session of a request. Each request looks it up, so that a revocation takes effect at once. A
    /// client that sent too many wrong cookies or tokens causes no look-ups but of sessions that were open
    /// here before.
    pub(super) async fn signed(&self, req: &Request) -> Result<Option<Signed>, ApiError> {
        let cookie = cookies::cookie(req, COOKIE);
        let Some(secret) = cookie.and_then(|text| ConsoleSecret::parse(&text)) else {
            return Ok(None);
        };
        let (gate, hash) = (&self.api.gate, secret.hash());
        if !self.seen.contains(&hash) && gate.is_exhausted(req) {
            return Ok(None);
        }
        let found = self.api.directory.session(hash).await?;
        let now = self.api.clock.now();
        let valid = found.filter(|(session, _)| session.expires_at > now);
        let operator = valid
            .and_then(|(session, operator)| gate.admit_session(&secret, session.holder, operator));
        let Some(operator) = operator else {
            // Whoever has too many learns it at the next form; a page leads to signing in.
            let _ = gate.count_unauthenticated(req);
            return Ok(None);
        };
        self.seen.remember(&hash);
        Ok(Some(Signed { secret, operator }))
    }

    /// Opens a session for the holder of this token, and returns the cookie.
    pub(super) async fn sign_in(&self, presented: &str, req: &Request) -> Result<String, ApiError> {
        let operator = self.api.gate.admit_token(presented, req).await?;
        held::refuse(&self.api.hold, true)?;
        let secret = ConsoleSecret::generate();
        let holder = match operator.id() {
            Some(id) => SessionHolder::Named(id),
            None => SessionHolder::Root {
                proof: OperatorTokens::seal(secret.bytes(), presented)
                    .ok_or_else(|| ApiError::internal("no proof"))?,
            },
        };
        let lifetime = match self.api.time_machine {
            Some(_) => LIFETIME_IN_SANDBOX,
            None => LIFETIME,
        };
        let now = self.api.clock.now();
        let session = ConsoleSession {
            secret: secret.hash(),
            holder,
            created_at: now,
            expires_at: now.saturating_add(lifetime),
        };
        self.api.directory.open_session(&session).await?;
        self.seen.remember(&session.secret);
        let operator = operator.name.as_str();
        tracing::info!(target: "console", operator, "signed in");
        Ok(set_cookie(secret.expose(), LIFETIME.num_seconds(), req))
    }

    /// Ends a session, and returns the cookie that removes the other one.
    pub(super) async fn sign_out(
        &self,
        signed: &Signed,
        req: &Request,
    ) -> Result<String, ApiError> {
        self.api.directory.end_session(signed.secret.hash()).await?;
        let operator = signed.operator.name.as_str();
        tracing::info!(target: "console", operator, "signed out");
        Ok(set_cookie("", 0, req))
    }
}

fn set_cookie(value: &str, max_age_seconds: i64, req: &Request) -> String {
    cookies::set(COOKIE, value, PREFIX, max_age_seconds, came_by_tls(req))
}
