//! Users of a company, who are responsible for its keys.

use async_trait::async_trait;
use preauth_core::access::ResponsibleUser;
use preauth_core::port::{NewReply, PageRequest, Unavailable};
use preauth_core::value::{CompanyId, Email, PermissionSet, PersonName, Timestamp, UserId};

use super::{DirectoryError, Page};

/// A user of the platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The platform's id.
    pub id: UserId,
    /// The user's company.
    pub company: CompanyId,
    /// The person's name.
    pub name: PersonName,
    /// The person's address; unique within the company.
    pub email: Email,
    /// The person's permissions.
    pub permissions: PermissionSet,
    /// Whether the person may act at all.
    pub active: bool,
    /// When the user was added.
    pub created_at: Timestamp,
}

impl User {
    /// The user in the form that the rules of keys need.
    #[must_use]
    pub const fn responsible(&self) -> ResponsibleUser {
        ResponsibleUser {
            company: self.company,
            is_active: self.active,
            permissions: self.permissions,
        }
    }
}

/// A change of a user: a field that is `None` stays unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserChange {
    /// The person's name.
    pub name: Option<PersonName>,
    /// The person's address.
    pub email: Option<Email>,
    /// The person's permissions.
    pub permissions: Option<PermissionSet>,
    /// Whether the person may act at all.
    pub active: Option<bool>,
}

/// Users.
#[async_trait]
pub trait Users: Send + Sync {
    /// Adds a user, and stores with it the `reply` of its idempotency key; not found when the
    /// company does not exist, conflict when it already has a user with this address.
    async fn add_user(&self, user: &User, reply: Option<&NewReply>) -> Result<(), DirectoryError>;

    /// The user, if there is one.
    async fn user(&self, id: UserId) -> Result<Option<User>, Unavailable>;

    /// A company's users, newest first.
    async fn users(&self, company: CompanyId, page: PageRequest)
    -> Result<Page<User>, Unavailable>;

    /// Changes the fields in `change` and leaves the others, also under concurrent changes. Returns
    /// the user after the change. Conflict when the company has another user with this address, or
    /// name and address of this one were erased.
    async fn update_user(&self, id: UserId, change: &UserChange) -> Result<User, DirectoryError>;
}
