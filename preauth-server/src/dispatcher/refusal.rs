//! Why an endpoint's URL is refused.

use std::net::IpAddr;

use thiserror::Error;

/// The defect of an endpoint's URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UrlRefusal {
    /// An empty text.
    #[error("url is empty")]
    Empty,
    /// More than 2,048 bytes.
    #[error("url is longer than 2,048 bytes")]
    TooLong,
    /// White space, a control character or a backslash.
    #[error("url holds white space, a control character or a backslash")]
    Character,
    /// Another scheme than the policy allows, or none.
    #[error("url does not begin with https://, or with http:// where that is allowed")]
    Scheme,
    /// A user or a password, even an empty one.
    #[error("url holds a user or a password")]
    UserInfo,
    /// A percent sign in the host.
    #[error("url holds a percent sign in its host")]
    PercentInHost,
    /// Another port than the policy allows, or a port in an unusual form.
    #[error("url names a port that is not allowed")]
    Port,
    /// A fragment, which requests do not carry.
    #[error("url holds a fragment")]
    Fragment,
    /// No host, or an invalid one.
    #[error("url holds no valid host name")]
    Host,
    /// A name of one label, which search domains would complete.
    #[error("host name has a single label")]
    SingleLabel,
    /// A name that is reserved for other uses than public ones.
    #[error("host name is reserved for special use")]
    ReservedName,
    /// An address in a form that some parsers read as another one.
    #[error("address is not in its canonical form")]
    AddressForm,
    /// The host is, or resolves to, an address that is not public.
    #[error("address {0} is not public")]
    AddressNotPublic(IpAddr),
    /// A name that does not exist, or has no address.
    #[error("host name has no address")]
    NameUnknown,
}
