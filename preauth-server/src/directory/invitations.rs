//! What a supplier says of a head office's invitation.

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use preauth_core::value::{CompanyId, CompanyName, Timestamp};

use super::{DirectoryError, Invitation};

/// Single invitations of suppliers.
#[async_trait]
pub trait Invitations: Send + Sync {
    /// A head office's invitation of a supplier that is not registered, if there is one.
    async fn invitation(
        &self,
        supplier: CompanyId,
        head_office: CompanyId,
    ) -> Result<Option<Invitation>, Unavailable>;

    /// Sets the name in a head office's invitation for good, as the supplier confirmed it. A conflict if
    /// it was confirmed before; not found when there is no invitation, or the supplier is registered.
    async fn confirm_invitation(
        &self,
        supplier: CompanyId,
        head_office: CompanyId,
        name: &CompanyName,
        at: Timestamp,
    ) -> Result<(), DirectoryError>;
}
