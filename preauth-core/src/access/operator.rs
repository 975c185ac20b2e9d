//! Operators of the platform: what each role permits, and how long a token is valid.

use crate::text_enum;
use crate::value::{OperatorId, Timestamp};

use super::KeyState;

text_enum! {
    /// The role of an operator. Each role also permits what the ones before it permit.
    #[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
    pub enum OperatorRole, "role" {
        /// Reads everything except secrets.
        Viewer => "VIEWER",
        /// Acts on operations, invoices, payment orders, endpoints, deliveries and mails.
        Operator => "OPERATOR",
        /// Acts on companies, users, keys, credit and operators, too.
        Admin => "ADMIN",
    }
}

/// Which operator acts, as the rules compare operators: by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum OperatorIdentity {
    /// The holder of the configured token; with two of them, the holders of either.
    Root,
    /// A named operator.
    Named(OperatorId),
}

impl OperatorIdentity {
    /// The identity with this id; the holder of the configured token has none.
    #[must_use]
    pub fn new(id: Option<OperatorId>) -> Self {
        id.map_or(Self::Root, Self::Named)
    }
}

impl OperatorRole {
    /// Whether it permits what needs `minimum`.
    #[must_use]
    pub fn permits(self, minimum: Self) -> bool {
        self >= minimum
    }
}

/// The state of an operator's token at `now`. Without an end it is valid until it is revoked; at its end
/// it is already expired. Revocation takes precedence.
#[must_use]
pub fn operator_state(
    now: Timestamp,
    valid_until: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
) -> KeyState {
    if revoked_at.is_some() {
        KeyState::Revoked
    } else if valid_until.is_some_and(|end| end <= now) {
        KeyState::Expired
    } else {
        KeyState::Active
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_permits_what_lower_roles_permit_and_nothing_of_higher_ones() {
        let ranked = [
            OperatorRole::Viewer,
            OperatorRole::Operator,
            OperatorRole::Admin,
        ];
        assert_eq!(OperatorRole::ALL, ranked);
        for (rank, role) in ranked.iter().enumerate() {
            for (needed, minimum) in ranked.iter().enumerate() {
                assert_eq!(role.permits(*minimum), needed <= rank, "{role} {minimum}");
            }
        }
    }

    #[test]
    fn a_token_is_valid_until_its_end_or_its_revocation() {
        let at = |millis| Timestamp::from_unix_millis(millis).unwrap();
        let state = |now, end: Option<i64>, revoked: Option<i64>| {
            operator_state(at(now), end.map(at), revoked.map(at))
        };
        assert_eq!(state(5, None, None), KeyState::Active);
        assert_eq!(state(5, Some(6), None), KeyState::Active);
        assert_eq!(state(5, Some(5), None), KeyState::Expired);
        assert_eq!(state(5, Some(4), Some(3)), KeyState::Revoked);
        assert_eq!(state(5, None, Some(5)), KeyState::Revoked);
    }
}
