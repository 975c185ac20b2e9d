//! The deployment that a database belongs to, and whether it is this one.
//!
//! An operator can give a deployment an id, outside of the database and its backups. Without an id
//! the database is identified by its place, which a restored copy does not share: the birth of the
//! file, or the transaction and the objects by which the row was written.

use std::fmt;
use std::str::FromStr;

use async_trait::async_trait;
use preauth_core::port::Unavailable;
use thiserror::Error;
use uuid::Uuid;

/// Length of an id.
const LENGTH: std::ops::RangeInclusive<usize> = 8..=64;

/// The id of a deployment: 8 to 64 letters, digits, `.`, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeploymentId(String);

/// The text is not an id of a deployment.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("an id of a deployment has 8 to 64 letters, digits, '.', '_' and '-'")]
pub struct NoDeploymentId;

/// The stored owner of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deployment {
    /// The deployment that it belongs to.
    pub id: DeploymentId,
    /// Whether an operator gave that id, or the first start generated it.
    pub is_given: bool,
    /// Whether the database is still in the place where that was stored.
    pub is_in_place: bool,
}

/// The port of a database's stored owner.
#[async_trait]
pub trait Identity: Send + Sync {
    /// The owner; `None` before the first start.
    async fn deployment(&self) -> Result<Option<Deployment>, Unavailable>;

    /// Assigns the database to this deployment, unless it has an owner.
    async fn claim(&self, id: &DeploymentId, is_given: bool) -> Result<(), Unavailable>;

    /// Assigns the database to this deployment, whichever owned it before.
    async fn adopt(&self, id: &DeploymentId, is_given: bool) -> Result<(), Unavailable>;
}

/// Whether a database belongs to this deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// It does.
    Ours,
    /// It has no owner yet.
    Nobodys,
    /// It does not; the reason is for the operator.
    Foreign(String),
}

/// Whether the database with this identity belongs to the deployment with the given id.
#[must_use]
pub fn ownership(given: Option<&DeploymentId>, stored: Option<&Deployment>) -> Ownership {
    let Some(stored) = stored else {
        return Ownership::Nobodys;
    };
    let id = &stored.id;
    let why = match given {
        Some(given) if given != id => {
            format!("this database belongs to deployment {id}, and this instance to {given}")
        }
        None if stored.is_given => {
            format!("this database belongs to deployment {id}, and deployment_id is not given")
        }
        Some(_) | None if !stored.is_in_place => {
            format!("this database is a copy of that of deployment {id}")
        }
        Some(_) | None => return Ownership::Ours,
    };
    Ownership::Foreign(format!(
        "{why}: no webhook or mail is sent, nothing expires and writes are refused; if it is in \
         service from now on, run `preauth-server adopt` with this configuration"
    ))
}

impl DeploymentId {
    /// A new id.
    #[must_use]
    pub fn random() -> Self {
        let bytes = crate::ids::random_bytes::<16>();
        Self(Uuid::from_bytes(bytes).to_string())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for DeploymentId {
    type Err = NoDeploymentId;

    fn from_str(text: &str) -> Result<Self, NoDeploymentId> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if LENGTH.contains(&text.len()) && text.bytes().all(is_allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NoDeploymentId)
        }
    }
}

impl fmt::Display for DeploymentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Deployment, DeploymentId, Ownership, ownership};

    fn id(text: &str) -> DeploymentId {
        text.parse().unwrap()
    }

    fn stored(is_given: bool, is_in_place: bool) -> Deployment {
        Deployment {
            id: id("production"),
            is_given,
            is_in_place,
        }
    }

    #[test]
    fn a_database_is_ours_by_its_id_and_by_its_place() {
        let (ours, theirs) = (id("production"), id("a-look-only"));
        assert_eq!(ownership(None, None), Ownership::Nobodys);
        assert_eq!(ownership(Some(&ours), None), Ownership::Nobodys);
        for (given, is_given, is_in_place, is_ours) in [
            (None, false, true, true),
            (None, false, false, false),
            (None, true, true, false),
            (Some(&ours), true, true, true),
            // Set by an operator after the first start generated one.
            (Some(&ours), false, true, true),
            (Some(&ours), true, false, false),
            (Some(&theirs), true, true, false),
            (Some(&theirs), false, true, false),
        ] {
            let found = ownership(given, Some(&stored(is_given, is_in_place)));
            assert_eq!(found == Ownership::Ours, is_ours, "{found:?}");
        }
    }

    #[test]
    fn an_id_has_letters_digits_and_little_else() {
        for text in ["short", "with space", "quebra\n-aqui", &"x".repeat(65)] {
            assert!(text.parse::<DeploymentId>().is_err(), "{text}");
        }
        let random = DeploymentId::random();
        assert_eq!(random.as_str().parse(), Ok(random.clone()));
        assert_ne!(random, DeploymentId::random());
    }
}
