//! E-mail addresses, limited to forms that every mail system accepts.

use std::fmt;
use std::str::FromStr;

const MAX_BYTES: usize = 255;
const MAX_LOCAL_BYTES: usize = 64;
const MAX_LABEL_BYTES: usize = 63;

/// The contact e-mail of an operation, trimmed; upper and lower case are kept as sent.
///
/// [Contract, "Create request body"](https://example.com/preauth/blob/main/docs/reference.md#create-request-body)
/// (`supplier.email`): at most 255 characters, a valid e-mail. Only addresses that work in every mail
/// system are valid here: ASCII; a local part of letters, digits and `_'+-.`; a domain name of two labels
/// or more. Quoted local parts, address literals and internationalized addresses are refused, although
/// standards allow them.
///
/// ```
/// use preauth_core::value::{Email, EmailError};
///
/// assert_eq!(Email::parse(" fin@fornecedor.com.br ")?.as_str(), "fin@fornecedor.com.br");
/// assert_eq!(Email::parse("us..er@example.com"), Err(EmailError::MisplacedDot));
/// # Ok::<(), EmailError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Email(String);

/// Why a text is not an e-mail address.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum EmailError {
    /// The text is empty, or only white space.
    #[error("the e-mail is empty; expected such as name@example.com")]
    Empty,
    /// More than 255 characters.
    #[error("the e-mail has more than {MAX_BYTES} characters")]
    TooLong,
    /// The text has a control character, also in the white space around the address.
    #[error("the e-mail has a control character")]
    ControlCharacter,
    /// No `@`.
    #[error("the e-mail has no @; expected such as name@example.com")]
    NoAt,
    /// The part before the `@` is empty.
    #[error("the part of the e-mail before the @ is empty")]
    EmptyLocalPart,
    /// More than 64 characters before the `@`.
    #[error("the part of the e-mail before the @ has more than {MAX_LOCAL_BYTES} characters")]
    LocalPartTooLong,
    /// The part before the `@` has a character other than ASCII letters, digits and `_'+-.`, or ends in
    /// `'`.
    #[error("the part of the e-mail before the @ has a character that is not allowed there")]
    LocalPartCharacter,
    /// The part before the `@` has a leading, trailing or double dot.
    #[error("the part of the e-mail before the @ has a leading, trailing or double dot")]
    MisplacedDot,
    /// The part after the `@` is empty.
    #[error("the domain of the e-mail is empty")]
    EmptyDomain,
    /// The domain has only one label, such as `localhost`.
    #[error("the domain of the e-mail has no dot")]
    SingleLabelDomain,
    /// A label of the domain is empty, too long, or has characters other than letters, digits and inner
    /// hyphens.
    #[error(
        "the domain of the e-mail has a label that is not allowed; expected letters, digits and inner hyphens"
    )]
    DomainLabel,
    /// The last label of the domain is not two letters or more.
    #[error("the domain of the e-mail does not end in two letters or more")]
    TopLevelDomain,
}

crate::explained::explained!(EmailError);

impl Email {
    /// Maximum length in characters, all of which are ASCII.
    pub const MAX_CHARS: usize = MAX_BYTES;

    /// Reads an e-mail address, and trims the white space around it.
    pub fn parse(raw: &str) -> Result<Self, EmailError> {
        if raw.chars().any(char::is_control) {
            return Err(EmailError::ControlCharacter);
        }
        let text = raw.trim();
        if text.is_empty() {
            return Err(EmailError::Empty);
        }
        if text.chars().count() > MAX_BYTES {
            return Err(EmailError::TooLong);
        }
        let (local, domain) = text.split_once('@').ok_or(EmailError::NoAt)?;
        check_local_part(local)?;
        check_domain(domain)?;
        Ok(Self(text.to_owned()))
    }

    /// The address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn check_local_part(local: &str) -> Result<(), EmailError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_'+-.".contains(&byte);
    if local.is_empty() {
        Err(EmailError::EmptyLocalPart)
    } else if !local.bytes().all(allowed) || local.ends_with('\'') {
        Err(EmailError::LocalPartCharacter)
    } else if local.len() > MAX_LOCAL_BYTES {
        Err(EmailError::LocalPartTooLong)
    } else if local.split('.').any(str::is_empty) {
        Err(EmailError::MisplacedDot)
    } else {
        Ok(())
    }
}

fn check_domain(domain: &str) -> Result<(), EmailError> {
    if domain.is_empty() {
        return Err(EmailError::EmptyDomain);
    }
    if !domain.split('.').all(is_label) {
        return Err(EmailError::DomainLabel);
    }
    let (_, top) = domain
        .rsplit_once('.')
        .ok_or(EmailError::SingleLabelDomain)?;
    if top.len() < 2 || !top.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Err(EmailError::TopLevelDomain);
    }
    Ok(())
}

fn is_label(label: &str) -> bool {
    !label.is_empty()
        && label.len() <= MAX_LABEL_BYTES
        && label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for Email {
    type Err = EmailError;

    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        Self::parse(raw)
    }
}
