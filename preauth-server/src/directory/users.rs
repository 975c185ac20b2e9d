//! People of a company, in whose name its keys act.

use async_trait::async_trait;
use preauth_core::port::{NewReply, PageRequest, Unavailable};
use preauth_core::value::{CompanyId, Email, PermissionSet, PersonName, Timestamp, UserId};

use super::{DirectoryError, Page};

/// A user of the platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The platform's id.
    pub id: UserId,
    /// The company that the user belongs to.
    pub company: CompanyId,
    /// The person's name.
    pub name: PersonName,
    /// The person's address; unique within the company.
    pub email: Email,
    /// What the person may do.
    pub permissions: PermissionSet,
    /// Whether the person may act at all.
    pub active: bool,
    /// When the user was added.
    pub created_at: Timestamp,
}

/// A change of a user: what is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserChange {
    /// The person's name.
    pub name: Option<PersonName>,
    /// The person's address.
    pub email: Option<Email>,
    /// What the person may do.
    pub permissions: Option<PermissionSet>,
    /// Whether the person may act at all.
    pub active: Option<bool>,
}

/// The register of users.
#[async_trait]
pub trait Users: Send + Sync {
    /// Adds a user, and with it the `reply` that its idempotency key has from now on; not found when
    /// the company does not exist, conflict when it has a user with this address.
    async fn add_user(&self, user: &User, reply: Option<&NewReply>) -> Result<(), DirectoryError>;

    /// The user, if there is one.
    async fn user(&self, id: UserId) -> Result<Option<User>, Unavailable>;

    /// A company's users, newest first.
    async fn users(&self, company: CompanyId, page: PageRequest)
    -> Result<Page<User>, Unavailable>;

    /// Changes what `change` names and leaves the rest, also against changes made at the same time;
    /// the user afterwards. Conflict when the company has another user with this address.
    async fn update_user(&self, id: UserId, change: &UserChange) -> Result<User, DirectoryError>;
}
