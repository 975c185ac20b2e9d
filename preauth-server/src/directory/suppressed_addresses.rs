//! Addresses whose readers want no mails about offers.
//!
//! The list holds for every head office: a reader who ends the mails of one would get those of the next.
//! An address counts as the limits of mails count it: in small letters, without what follows a plus sign.

use async_trait::async_trait;
use preauth_core::port::{PageRequest, Unavailable};
use preauth_core::value::{Email, OperationId, SuppressionId, Timestamp};

use super::{DirectoryError, Page};

/// An address that is sent no mails about offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuppressedAddress {
    /// The platform's id.
    pub id: SuppressionId,
    /// The address, in small letters and without what follows a plus sign.
    pub address: Email,
    /// The offer whose page was used.
    pub operation: OperationId,
    /// Since when.
    pub since: Timestamp,
}

/// The reader of the mail about an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addressee {
    /// The address of the mail.
    pub address: Email,
    /// Whether the reader wants no mails.
    pub is_suppressed: bool,
}

/// The list of such addresses.
#[async_trait]
pub trait SuppressedAddresses: Send + Sync {
    /// The reader of the mail about an operation, if there is one.
    async fn addressee(&self, operation: OperationId) -> Result<Option<Addressee>, Unavailable>;

    /// Adds the address of the mail about an operation under this id; an entry that there is already stays.
    /// Not found when there is no such mail.
    async fn suppress_addressee(
        &self,
        id: SuppressionId,
        operation: OperationId,
        at: Timestamp,
    ) -> Result<(), DirectoryError>;

    /// Adds an address that the link of a mail about an operation brought; an entry that there is already
    /// stays.
    async fn suppress_address(
        &self,
        id: SuppressionId,
        address: &Email,
        operation: OperationId,
        at: Timestamp,
    ) -> Result<(), DirectoryError>;

    /// An entry, if it exists.
    async fn suppressed_address(
        &self,
        id: SuppressionId,
    ) -> Result<Option<SuppressedAddress>, Unavailable>;

    /// The entries, newest first; only that of an address if one is given.
    async fn suppressed_addresses(
        &self,
        address: Option<&Email>,
        page: PageRequest,
    ) -> Result<Page<SuppressedAddress>, Unavailable>;

    /// Removes an entry: mails are sent again from then on. Not found when there is none.
    async fn remove_suppressed_address(&self, id: SuppressionId) -> Result<(), DirectoryError>;
}
