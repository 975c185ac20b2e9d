//! The links to the supplier's page.
//!
//! A link carries 192 bits that are derived from a master key, the operation and the number of the
//! link. So every instance can write the same mail again, and nothing that is stored opens a page. The
//! active master key writes links; those of every other configured key are valid, too.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use preauth_core::value::{Email, OperationId};
use subtle::{Choice, ConstantTimeEq};
use url::Url;

use super::Vault;
use super::derived_key::DerivedKey;
use super::sealed_address;

/// The part of a link that cannot be guessed.
const TOKEN_BYTES: usize = 24;
/// The number of an operation's link. Links with another number are made by later versions, if at all.
const LINK_NUMBER: u32 = 1;
const SEPARATOR: char = '.';

/// A page behind a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SupplierPage {
    /// The offer, and what became of it.
    Offer,
    /// The request of the advance, before it is confirmed.
    Request,
    /// The refusal, before it is confirmed.
    Decline,
    /// The end of mails to the address.
    Unsubscribe,
}

/// Writes links and recognizes them.
#[derive(Clone)]
pub struct SupplierLinks {
    /// That of the active master key first.
    keys: Vec<DerivedKey>,
    base: Url,
}

impl SupplierPage {
    /// The first segment of every page's path.
    pub const SEGMENT: &'static str = "oferta";

    /// The last segment of its path, if it has one.
    #[must_use]
    pub const fn action(self) -> Option<&'static str> {
        match self {
            Self::Offer => None,
            Self::Request => Some("solicitar"),
            Self::Decline => Some("recusar"),
            Self::Unsubscribe => Some("nao-receber"),
        }
    }

    /// Its path for a link, or for the name of a route's parameter.
    #[must_use]
    pub fn path(self, link: &str) -> String {
        let segment = Self::SEGMENT;
        match self.action() {
            None => format!("/{segment}/{link}"),
            Some(action) => format!("/{segment}/{link}/{action}"),
        }
    }
}

impl SupplierLinks {
    /// Links under the keys of `vault`, to pages at `base`.
    #[must_use]
    pub fn new(vault: &Vault, base: Url) -> Self {
        let keys = vault.link_keys();
        Self { keys, base }
    }

    /// The address of the pages.
    #[must_use]
    pub const fn base(&self) -> &Url {
        &self.base
    }

    /// The address of an operation's page.
    #[must_use]
    pub fn url(&self, operation: OperationId, page: SupplierPage) -> Url {
        let mut url = self.base.clone();
        url.set_path(&page.path(&self.link(operation)));
        url
    }

    /// The address of the page that ends the mails to `address`. It needs no record of the mail.
    #[must_use]
    pub fn unsubscribe(&self, operation: OperationId, address: &Email) -> Url {
        let mut url = self.url(operation, SupplierPage::Unsubscribe);
        let key = self.keys.first();
        if let Some(sealed) = key.and_then(|key| sealed_address::seal(key, operation, address)) {
            url.set_path(&format!("{}/{sealed}", url.path()));
        }
        url
    }

    /// The address in the last segment of such a page's path.
    #[must_use]
    pub fn open_address(&self, operation: OperationId, sealed: &str) -> Option<Email> {
        let mut keys = self.keys.iter();
        keys.find_map(|key| sealed_address::open(key, operation, sealed))
    }

    /// The operation's link, as a segment of a path. It ends in digits: programs that find links in a
    /// text take a last sign for punctuation.
    fn link(&self, operation: OperationId) -> String {
        let key = self.keys.first();
        let token = key.map(|key| token(key, operation)).unwrap_or_default();
        let token = URL_SAFE_NO_PAD.encode(token);
        format!("{token}{SEPARATOR}{operation}{SEPARATOR}{LINK_NUMBER}")
    }

    /// The operation that a link opens. Whatever the text, nothing is looked up, and every key is tried.
    #[must_use]
    pub fn open(&self, link: &str) -> Option<OperationId> {
        let (presented, rest) = link.split_once(SEPARATOR)?;
        let (operation, number) = rest.split_once(SEPARATOR)?;
        let operation = OperationId::parse(operation)
            .ok()
            .filter(|id| id.to_string() == operation)?;
        if number != LINK_NUMBER.to_string() {
            return None;
        }
        let presented: [u8; TOKEN_BYTES] =
            URL_SAFE_NO_PAD.decode(presented).ok()?.try_into().ok()?;
        let is_valid = self.keys.iter().fold(Choice::from(0), |found, key| {
            found | token(key, operation).ct_eq(&presented)
        });
        bool::from(is_valid).then_some(operation)
    }
}

fn token(key: &DerivedKey, operation: OperationId) -> [u8; TOKEN_BYTES] {
    let operation = operation.get().to_be_bytes();
    let number = LINK_NUMBER.to_be_bytes();
    let mac = key.mac(&[&operation[..], &number[..]].concat());
    let mut token = [0; TOKEN_BYTES];
    for (target, byte) in token.iter_mut().zip(mac) {
        *target = byte;
    }
    token
}

impl fmt::Debug for SupplierLinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SupplierLinks")
            .field("base", &self.base.as_str())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(vault: &Vault) -> SupplierLinks {
        SupplierLinks::new(vault, "https://ofertas.example.com".parse().unwrap())
    }

    fn operation(id: i64) -> OperationId {
        OperationId::new(id).unwrap()
    }

    #[test]
    fn a_link_opens_its_operation_and_no_other() {
        let links = links(&Vault::new(&[1; 32]));
        let url = links.url(operation(42), SupplierPage::Decline);
        let segments: Vec<_> = url.path_segments().unwrap().collect();
        assert_eq!((segments[0], segments[2]), ("oferta", "recusar"));
        let link = segments[1];
        assert_eq!(links.open(link), Some(operation(42)));
        let (token, _) = link.split_once('.').unwrap();
        assert_eq!(token.len(), 32);
        for other in [
            format!("{token}.43.1"),
            format!("{token}.42.2"),
            format!("{token}.042.1"),
            format!("{token}.42.1."),
            format!("{token}.42"),
            format!("{}.42.1", &token[1..]),
            format!("{token}A.42.1"),
            format!("{token}=.42.1"),
            format!("{}.42.1", token.to_lowercase()),
            ".42.1".to_owned(),
            "42".to_owned(),
            String::new(),
        ] {
            assert_eq!(links.open(&other), None, "{other}");
        }
    }

    #[test]
    fn every_bit_of_a_token_counts() {
        let links = links(&Vault::new(&[1; 32]));
        let link = links.link(operation(7));
        let (token, rest) = link.split_once('.').unwrap();
        let bytes = URL_SAFE_NO_PAD.decode(token).unwrap();
        for bit in 0..TOKEN_BYTES * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let changed = format!("{}.{rest}", URL_SAFE_NO_PAD.encode(changed));
            assert_eq!(links.open(&changed), None, "{bit}");
        }
    }

    #[test]
    fn links_of_a_former_master_key_stay_valid_until_it_is_removed() {
        let (former, present) = ([1; 32], [2; 32]);
        let old = links(&Vault::new(&former)).link(operation(5));
        let rotated = links(&Vault::new(&present).also_opening(&former));
        assert_eq!(rotated.open(&old), Some(operation(5)));
        let new = rotated.link(operation(5));
        assert_ne!(new, old);
        let removed = links(&Vault::new(&present));
        assert_eq!(removed.open(&new), Some(operation(5)));
        assert_eq!(removed.open(&old), None);
    }
}
