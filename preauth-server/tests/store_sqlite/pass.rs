//! The statements of one pass over the store.

use std::collections::BTreeSet;

use crate::filling::{copy, fill};
use crate::statements::Statements;
use crate::store::fixture::Fixture;
use crate::store::pass::{Office, audit, pass};

/// Statements with a plan.
const PLANNED: [&str; 5] = ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"];

pub(crate) struct Scene {
    pub(crate) fixture: Fixture,
    office: Office,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        let fixture = Fixture::new().await;
        let office = Office::new(&fixture).await;
        Self { fixture, office }
    }

    /// The statements of a pass and of an audit, in the words of the store.
    pub(crate) async fn statements(&self, heard: &Statements) -> BTreeSet<String> {
        heard.take();
        pass(&self.fixture, self.office).await;
        audit(&self.fixture).await;
        let is_planned = |it: &String| {
            let first = it.split_whitespace().next().unwrap_or_default();
            PLANNED.contains(&first.to_uppercase().as_str())
        };
        heard.take().into_iter().filter(is_planned).collect()
    }

    /// Makes the tables large.
    pub(crate) async fn fill(&self) {
        fill(&self.fixture).await;
        let others = [
            ("companies", ("cnpj", "printf('%014d', n)")),
            ("users", ("email", "n || '@example.com'")),
            ("api_keys", ("hash", "randomblob(32)")),
        ];
        for (table, (column, value)) in others {
            let id = ("id", "randomblob(16)");
            copy(&self.fixture, table, &[id, (column, value)]).await;
        }
        let key = ("key", "'key-number-' || n");
        copy(&self.fixture, "idempotency_replies", &[key]).await;
    }
}
