//! The directory of the host in memory: companies and keys, with the replies of their idempotency keys.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use preauth_core::port::{NewReply, PlatformReply};
use preauth_core::value::{Cnpj, IdempotencyKey, Timestamp};
use preauth_server::access::KeyHash;
use preauth_server::directory::{ApiKey, Company, DirectoryError};

/// A record of the directory that is about to be created.
#[derive(Clone, Debug)]
pub(crate) struct NewRecord {
    pub(crate) record: Record,
    /// The reply of its idempotency key, which is stored with it.
    pub(crate) reply: Option<NewReply>,
}

/// A record of the directory.
#[derive(Clone, Debug)]
pub(crate) enum Record {
    Company(Company),
    ApiKey(ApiKey, KeyHash),
}

impl Record {
    pub(crate) fn id(&self) -> String {
        match self {
            Self::Company(company) => company.id.to_string(),
            Self::ApiKey(key, _) => key.id.to_string(),
        }
    }

    pub(crate) const fn created_at(&self) -> Timestamp {
        match self {
            Self::Company(company) => company.created_at,
            Self::ApiKey(key, _) => key.created_at,
        }
    }
}

/// The registered records; it has every write of every primary.
#[derive(Debug, Default)]
pub(super) struct Register(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    ids: BTreeSet<String>,
    companies: Vec<Company>,
    replies: BTreeMap<IdempotencyKey, PlatformReply>,
}

impl Register {
    /// Writes a record with its reply, or nothing.
    pub(super) fn add(&self, new: NewRecord) -> Result<(), DirectoryError> {
        let mut entries = self.0.lock().unwrap();
        let at = new.record.created_at();
        let is_answered = new.reply.as_ref().is_some_and(|reply| {
            let stored = entries.replies.get(&reply.key);
            stored.is_some_and(|stored| at < stored.expires_at)
        });
        let is_taken = match &new.record {
            Record::Company(company) => entries.by_cnpj(&company.cnpj).is_some(),
            Record::ApiKey(..) => false,
        };
        if is_answered || is_taken {
            return Err(DirectoryError::Conflict);
        }
        entries.ids.insert(new.record.id());
        if let Record::Company(company) = new.record {
            entries.companies.push(company);
        }
        if let Some(reply) = new.reply {
            let stored = PlatformReply {
                fingerprint: reply.fingerprint,
                body: reply.body,
                expires_at: at.saturating_add(reply.retention),
            };
            entries.replies.insert(reply.key, stored);
        }
        Ok(())
    }

    pub(super) fn by_cnpj(&self, cnpj: &Cnpj) -> Option<Company> {
        self.0.lock().unwrap().by_cnpj(cnpj).cloned()
    }

    pub(super) fn reply(&self, key: &IdempotencyKey) -> Option<PlatformReply> {
        self.0.lock().unwrap().replies.get(key).cloned()
    }

    pub(super) fn ids(&self) -> BTreeSet<String> {
        self.0.lock().unwrap().ids.clone()
    }
}

impl Entries {
    fn by_cnpj(&self, cnpj: &Cnpj) -> Option<&Company> {
        self.companies.iter().find(|it| it.cnpj == *cnpj)
    }
}
