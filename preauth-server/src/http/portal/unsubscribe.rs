//! The end of mails to the address that a link was sent to.

use askama::Template;
use preauth_core::port::PageRequest;
use preauth_core::value::{Email, SuppressionId};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::directory::DirectoryError;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::secret::SupplierPage;

use super::answer::Answer;
use super::frame::{self, Frame};
use super::message::{self, Message};
use super::visit::Visit;

/// Letters of an address before the `@` that a page shows: who holds a forwarded link need not learn it.
const SHOWN_LETTERS: usize = 2;

/// An entry is enough.
const ONE: PageRequest = PageRequest { page: 1, limit: 1 };

#[derive(Clone, Copy)]
pub(super) struct Unsubscribe;

#[derive(Template)]
#[template(path = "portal/unsubscribe.html")]
struct UnsubscribePage<'a> {
    frame: &'a Frame,
    address: String,
    is_ended: bool,
}

#[async_trait]
impl Answer for Unsubscribe {
    const HAS_FORM: bool = true;

    async fn read(&self, visit: &Visit<'_>) -> Result<Reply, ApiError> {
        let directory = &visit.api.directory;
        if let Some(address) = &visit.address {
            let listed = directory.suppressed_addresses(Some(address), ONE);
            return page(visit, address, listed.await?.total > 0);
        }
        let addressee = directory.addressee(visit.operation.id).await?;
        let Some(addressee) = addressee else {
            return Ok(forgotten(visit));
        };
        page(visit, &addressee.address, addressee.is_suppressed)
    }

    /// Whatever the body says: mail programs send one of their own (RFC 8058), and follow no redirect.
    async fn submit(&self, visit: &Visit<'_>, _req: &mut Request) -> Result<Reply, ApiError> {
        let (api, operation) = (visit.api, visit.operation.id);
        let id = SuppressionId::new(api.ids.uuid(visit.now));
        let (directory, now) = (&api.directory, visit.now);
        let suppressed = match &visit.address {
            Some(address) => directory.suppress_address(id, address, operation, now),
            None => directory.suppress_addressee(id, operation, now),
        };
        match suppressed.await {
            Ok(()) => {
                tracing::info!(target: "portal", operation = operation.get(), "an address wants no mails");
                self.read(visit).await
            }
            Err(DirectoryError::NotFound) => Ok(forgotten(visit)),
            Err(error) => Err(error.into()),
        }
    }
}

fn page(visit: &Visit<'_>, address: &Email, is_ended: bool) -> Result<Reply, ApiError> {
    let page = UnsubscribePage {
        frame: &visit.frame,
        address: masked(address),
        is_ended,
    };
    frame::page(StatusCode::OK, &page)
}

/// The record of a mail is removed some time after it was sent, and with it the address. The link in a mail
/// brings its address along; that of the offer's page does not.
fn forgotten(visit: &Visit<'_>) -> Reply {
    message::page(&visit.frame, StatusCode::GONE, Message::AddressForgotten)
}

/// `fi•••@fornecedor.com.br`.
fn masked(address: &Email) -> String {
    let (local, domain) = address.as_str().rsplit_once('@').unwrap_or_default();
    let shown: String = local.chars().take(SHOWN_LETTERS).collect();
    format!("{shown}•••@{domain}")
}

#[cfg(test)]
mod tests {
    use super::{Email, masked};

    #[test]
    fn an_address_is_shown_in_part() {
        for (address, shown) in [
            ("financeiro@fornecedor.com.br", "fi•••@fornecedor.com.br"),
            ("a@fornecedor.com.br", "a•••@fornecedor.com.br"),
        ] {
            assert_eq!(masked(&Email::parse(address).unwrap()), shown);
        }
    }
}
