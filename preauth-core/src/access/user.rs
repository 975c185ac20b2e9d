//! The users responsible for keys.

use crate::value::{CompanyId, PermissionSet};

/// Everything that decides whether a user may be responsible for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponsibleUser {
    /// The user's company.
    pub company: CompanyId,
    /// Whether the user is active.
    pub is_active: bool,
    /// The user's permissions.
    pub permissions: PermissionSet,
}

/// Whether `user` may be responsible for a key of `company`
/// ([contract, "Authentication"](https://example.com/preauth/blob/main/docs/reference.md#authentication)
/// item 2): active, of
/// the company, and allowed to request and to pre-authorize advances.
#[must_use]
pub fn may_be_responsible(user: &ResponsibleUser, company: CompanyId) -> bool {
    user.company == company && user.is_active && may_act(user.permissions)
}

/// Whether a user with these permissions may be responsible for requests.
pub(super) fn may_act(permissions: PermissionSet) -> bool {
    permissions == PermissionSet::all()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{CompanyId, PermissionSet, ResponsibleUser, may_be_responsible};
    use crate::value::Permission;

    // Contract: authentication/responsible-user
    #[test]
    fn a_responsible_user_is_active_of_the_company_and_has_both_permissions() {
        let company = CompanyId::new(Uuid::from_u128(1));
        let user = ResponsibleUser {
            company,
            is_active: true,
            permissions: PermissionSet::all(),
        };
        assert!(may_be_responsible(&user, company));
        let other = CompanyId::new(Uuid::from_u128(2));
        assert!(!may_be_responsible(&user, other));
        let inactive = ResponsibleUser {
            is_active: false,
            ..user
        };
        assert!(!may_be_responsible(&inactive, company));
        for permission in Permission::ALL {
            let lacking = ResponsibleUser {
                permissions: [*permission].into_iter().collect(),
                ..user
            };
            assert!(!may_be_responsible(&lacking, company));
        }
    }
}
