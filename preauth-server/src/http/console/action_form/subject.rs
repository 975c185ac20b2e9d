//! The record that a form is about.

use salvo::http::StatusCode;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::http::console::failure::Failure;
use crate::http::console::visit::Visit;

use super::request::{fill, member};
use super::{ActionForm, Input};

/// What a form is about, as it stands now.
pub(super) struct Subject {
    pub(super) record: Option<Value>,
    /// What the form changes.
    pub(super) current: Option<Value>,
}

impl Subject {
    /// The version of the record.
    pub(super) fn own_version(&self) -> Option<&Value> {
        self.record.as_ref()?.get("version")
    }
}

impl ActionForm {
    pub(super) async fn subject(&self, visit: &Visit) -> Result<Subject, Failure> {
        let mut record = None;
        if let Some(route) = self.record {
            record = Some(visit.get(fill(route, |name| visit.id(name))?).await?);
        }
        let mut current = None;
        if let Some(route) = self.edits {
            let found = visit.get(fill(route, |name| visit.id(name))?).await;
            current = match found {
                Ok(found) => Some(found),
                Err(Failure::Api(error)) if error.status() == StatusCode::NOT_FOUND => None,
                Err(failure) => return Err(failure),
            };
        }
        Ok(Subject { record, current })
    }

    /// The version of what the form is about: the record's own, what the request would change, and what the form would.
    pub(super) fn version(&self, subject: &Subject) -> String {
        let mut own = subject
            .own_version()
            .map(Value::to_string)
            .unwrap_or_default();
        if !self.watched.is_empty() {
            let record = subject.record.as_ref();
            let watched = self.watched.iter();
            let watched: Vec<_> = watched.map(|name| record?.get(name)).collect();
            let digest = Sha256::digest(format!("{watched:?}"));
            own = format!("{own}-{}", hex::encode(digest));
        }
        let Some(current) = &subject.current else {
            return own;
        };
        let members = self.inputs.iter();
        let members: Vec<_> = members.map(|input| member(current, input.name)).collect();
        let digest = Sha256::digest(format!("{members:?}"));
        format!("{own}-{}", hex::encode(digest))
    }

    /// What a field holds before anything was typed.
    pub(super) fn stored<'a>(&self, input: &Input, subject: &'a Subject) -> Option<&'a Value> {
        let filled = self.filled.iter().find(|(name, _)| *name == input.name);
        match (filled, &subject.record) {
            (Some((_, path)), Some(record)) => member(record, path),
            _ => member(subject.current.as_ref()?, input.name),
        }
    }
}
