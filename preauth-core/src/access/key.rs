//! API keys: their validity, and which requests they permit.

use crate::text_enum;
use crate::value::{PermissionSet, Scope, ScopeSet, Timestamp};

use super::user::may_act;

/// The validity periods that a key may have, in days
/// ([contract, "Limits"](https://example.com/preauth/blob/main/docs/reference.md#limits)).
pub const VALIDITY_DAYS: [u16; 4] = [30, 90, 180, 365];
/// The default validity of a key, in days.
pub const DEFAULT_VALIDITY_DAYS: u16 = 365;

text_enum! {
    /// The state of a key.
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum KeyState, "state of a key" {
        /// Active.
        Active => "ACTIVE",
        /// Expired.
        Expired => "EXPIRED",
        /// Revoked.
        Revoked => "REVOKED",
    }
}

impl KeyState {
    /// The state at `now`. Expiry is inclusive: a key is expired at `expires_at` itself. Revocation takes
    /// precedence.
    #[must_use]
    pub fn at(now: Timestamp, expires_at: Timestamp, revoked_at: Option<Timestamp>) -> Self {
        if revoked_at.is_some() {
            Self::Revoked
        } else if expires_at <= now {
            Self::Expired
        } else {
            Self::Active
        }
    }
}

/// Everything that the decision on a request with a key depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUse {
    /// The state of the key.
    pub state: KeyState,
    /// Whether its rate limit refuses the request.
    pub is_over_limit: bool,
    /// Whether its company, or that company's head office, is suspended.
    pub company_is_suspended: bool,
    /// The key's scopes.
    pub scopes: ScopeSet,
    /// Whether the responsible user is active and still belongs to the company.
    pub user_is_active: bool,
    /// The permissions of that user.
    pub permissions: PermissionSet,
}

/// Why a request with a key is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum KeyRefusal {
    /// The key was revoked.
    Revoked,
    /// The key has expired.
    Expired,
    /// The key has exceeded its rate limit.
    LimitReached,
    /// Its company, or that company's head office, is suspended.
    CompanySuspended,
    /// The key lacks the required scope.
    ScopeMissing,
    /// The responsible user is not active, or left the company.
    UserInactive,
    /// The responsible user lacks a permission.
    UserNotPermitted,
}

/// Decides whether a key permits a request that needs `scope`: checks key state, rate limit, suspension,
/// scope and user, in this order.
pub fn decide_use(key: &KeyUse, scope: Scope) -> Result<(), KeyRefusal> {
    match key.state {
        KeyState::Revoked => return Err(KeyRefusal::Revoked),
        KeyState::Expired => return Err(KeyRefusal::Expired),
        KeyState::Active => {}
    }
    if key.is_over_limit {
        return Err(KeyRefusal::LimitReached);
    }
    if key.company_is_suspended {
        return Err(KeyRefusal::CompanySuspended);
    }
    if !key.scopes.contains(scope) {
        return Err(KeyRefusal::ScopeMissing);
    }
    if !key.user_is_active {
        return Err(KeyRefusal::UserInactive);
    }
    if !may_act(key.permissions) {
        return Err(KeyRefusal::UserNotPermitted);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::{KeyRefusal, KeyState, KeyUse, decide_use};
    use crate::value::{Permission, PermissionSet, Scope, ScopeSet, Timestamp};

    #[test]
    fn a_key_is_expired_at_its_very_instant_and_revoked_wins() {
        let now = Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap();
        let expires_at = now.saturating_add(TimeDelta::milliseconds(1));
        assert_eq!(KeyState::at(now, expires_at, None).as_str(), "ACTIVE");
        let expired = KeyState::at(expires_at, expires_at, None);
        assert_eq!(expired.as_str(), "EXPIRED");
        let revoked = KeyState::at(expires_at, expires_at, Some(now));
        assert_eq!(revoked.as_str(), "REVOKED");
    }

    #[test]
    fn the_first_reason_in_the_order_of_the_contract_is_the_refusal() {
        let scope = Scope::PreauthRead;
        let mut key = KeyUse {
            state: KeyState::Revoked,
            is_over_limit: true,
            company_is_suspended: true,
            scopes: ScopeSet::default(),
            user_is_active: false,
            permissions: [Permission::RequestAdvances].into_iter().collect(),
        };
        assert_eq!(decide_use(&key, scope), Err(KeyRefusal::Revoked));
        key.state = KeyState::Expired;
        assert_eq!(decide_use(&key, scope), Err(KeyRefusal::Expired));
        key.state = KeyState::Active;
        assert_eq!(decide_use(&key, scope), Err(KeyRefusal::LimitReached));
        key.is_over_limit = false;
        assert_eq!(decide_use(&key, scope), Err(KeyRefusal::CompanySuspended));
        key.company_is_suspended = false;
        assert_eq!(decide_use(&key, scope), Err(KeyRefusal::ScopeMissing));
        key.scopes = [scope].into_iter().collect();
        assert_eq!(decide_use(&key, scope), Err(KeyRefusal::UserInactive));
        key.user_is_active = true;
        assert_eq!(decide_use(&key, scope), Err(KeyRefusal::UserNotPermitted));
        key.permissions = PermissionSet::all();
        assert_eq!(decide_use(&key, scope), Ok(()));
    }
}
