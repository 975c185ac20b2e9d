//! Operations in two sandboxes under the same names: the round and the create that made each.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Answers in a form that does not depend on ids and moments.
#[derive(Default)]
pub(super) struct Names(BTreeMap<u64, String>);

impl Names {
    /// The name of the operation with this id.
    pub(super) fn of(&self, id: &Value) -> &str {
        let name = id.as_u64().and_then(|id| self.0.get(&id));
        name.unwrap_or_else(|| panic!("no create made {id}"))
    }

    pub(super) fn name(&mut self, answer: &mut Value, place: &str) {
        let id = answer["preAuthorization"]["id"].as_u64();
        if let Some(id) = id.filter(|_| answer["replayed"] == false) {
            self.0.insert(id, place.to_owned());
        }
        if let Some(id) = id {
            let operation = answer["preAuthorization"].as_object_mut().unwrap();
            operation.insert("id".to_owned(), json!(self.0[&id]));
            for moment in ["createdAt", "expiresAt"] {
                operation.remove(moment).unwrap();
            }
        }
    }

    /// The operation in the way, once all operations of the round are known.
    pub(super) fn name_existing(&self, answer: &mut Value) {
        if let Some(id) = answer["details"][0]["anticipationId"].as_u64() {
            answer["details"][0]["anticipationId"] = json!(self.0[&id]);
        }
    }
}
