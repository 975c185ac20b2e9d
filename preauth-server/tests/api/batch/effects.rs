//! What creates leave behind: events, deliveries and mails, in a form that does not depend on ids and moments.

use std::collections::{BTreeMap, BTreeSet};

use preauth_client::value::Timestamp;
use preauth_client::wire::path::EVENTS;
use preauth_server::http::platform::PREFIX;
use serde_json::{Value, json};
use test_support::{RawCaller, Sandbox, office};
use uuid::Uuid;

use super::names::Names;

/// What creates left behind in one sandbox, each list in the order of the names of its operations.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Effects {
    pub(super) events: Vec<Named>,
    pub(super) deliveries: Vec<Named>,
    pub(super) mails: Vec<Named>,
}

/// An effect of the operation with this name, as text.
pub(super) type Named = (String, String);

/// Once all deliveries and mails have arrived. Operations of different rounds were made one after the other, and
/// so must be their effects; those of one round have no order of their own.
pub(super) async fn of(sandbox: &Sandbox, names: &Names) -> Effects {
    let platform = sandbox.platform();
    let companies = companies(&platform).await;
    let normal = Normal { names, companies };
    for (list, status) in [("deliveries", "DELIVERED"), ("notices", "SENT")] {
        office::until_true(status, async || {
            let all = list_of(&platform, list).await;
            !all.is_empty() && all.iter().all(|it| it["status"] == status)
        })
        .await;
    }
    let events = events(&sandbox.caller("apiKey")).await;
    let ids: BTreeSet<_> = events.iter().map(|it| it["id"].to_string()).collect();
    assert_eq!(ids.len(), events.len(), "an event twice");
    // Lists have the newest first.
    let mut deliveries = list_of(&platform, "deliveries").await;
    deliveries.reverse();
    let delivered: BTreeSet<_> = deliveries
        .iter()
        .map(|it| it["eventId"].to_string())
        .collect();
    assert_eq!(delivered, ids, "an event without its delivery");
    let mut mails = list_of(&platform, "notices").await;
    mails.reverse();
    Effects {
        events: in_order(events.iter().map(|it| normal.event(it))),
        deliveries: in_order(deliveries.iter().map(|it| normal.delivery(it))),
        mails: in_order(mails.iter().map(|it| normal.mail(it))),
    }
}

/// Sorted by name, after a look at the order of rounds.
fn in_order(found: impl Iterator<Item = Named>) -> Vec<Named> {
    let mut found: Vec<_> = found.collect();
    let round = |(name, _): &Named| -> usize {
        let (round, _) = name.split_once('.').unwrap();
        round.parse().unwrap()
    };
    let order: Vec<_> = found.iter().map(round).collect();
    assert!(order.is_sorted(), "rounds out of order: {order:?}");
    found.sort_unstable();
    found
}

/// Gives ids and moments names.
struct Normal<'a> {
    names: &'a Names,
    /// The CNPJ of each company.
    companies: BTreeMap<String, String>,
}

impl Normal<'_> {
    fn event(&self, event: &Value) -> Named {
        let name = self.names.of(&event["data"]["anticipationId"]).to_owned();
        (name, self.normal(event, "").to_string())
    }

    /// The event that it carries, where it goes, and what became of it; how often it was tried depends on the
    /// machine.
    fn delivery(&self, delivery: &Value) -> Named {
        let body: Value = serde_json::from_str(delivery["body"].as_str().unwrap()).unwrap();
        let attempts = delivery["attempts"].as_array().unwrap();
        let first = &attempts[0];
        let said = json!({
            "endpoint": self.normal(&delivery["companyId"], ""),
            "type": delivery["eventType"],
            "status": delivery["status"],
            "body": self.normal(&body, ""),
            "first": {"number": first["number"], "trigger": first["trigger"]},
        });
        (
            self.names.of(&delivery["operationId"]).to_owned(),
            said.to_string(),
        )
    }

    fn mail(&self, mail: &Value) -> Named {
        let said = json!({
            "company": self.normal(&mail["companyId"], ""),
            "kind": mail["kind"],
            "recipient": mail["recipient"],
            "status": mail["status"],
            "joined": mail["joinedTo"].is_string(),
        });
        (
            self.names.of(&mail["operationId"]).to_owned(),
            said.to_string(),
        )
    }

    fn normal(&self, value: &Value, key: &str) -> Value {
        match value {
            Value::Object(members) => {
                let members = members.iter();
                members
                    .map(|(key, value)| (key.clone(), self.normal(value, key)))
                    .collect()
            }
            Value::Array(elements) => elements.iter().map(|it| self.normal(it, key)).collect(),
            Value::Number(_) if key == "anticipationId" => json!(self.names.of(value)),
            Value::String(text) => match self.companies.get(text) {
                Some(cnpj) => json!(cnpj),
                None if Timestamp::parse(text).is_ok() => json!("a moment"),
                None if Uuid::try_parse(text).is_ok() => json!("an id"),
                None => value.clone(),
            },
            other => other.clone(),
        }
    }
}

async fn companies(platform: &RawCaller) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = list_of(platform, "companies").await;
    all.iter()
        .map(|it| (text(&it["id"]), text(&it["cnpj"])))
        .collect()
}

/// All pages of a list of the platform API.
async fn list_of(platform: &RawCaller, list: &str) -> Vec<Value> {
    let mut found = Vec::new();
    for page in 1.. {
        let path = format!("{PREFIX}/{list}?limit=100&page={page}");
        let answer = platform.get(&path).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let answer = answer.json();
        found.extend(answer["data"].as_array().unwrap().iter().cloned());
        if answer["pagination"]["totalPages"].as_u64().unwrap() <= page {
            break;
        }
    }
    found
}

/// All events of the caller's company, in the order of their list.
async fn events(caller: &RawCaller) -> Vec<Value> {
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let answer = caller.get(&format!("{EVENTS}?limit=100{after}")).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let page = answer.json();
        found.extend(page["data"].as_array().unwrap().iter().cloned());
        if page["pagination"]["hasMore"] == false {
            return found;
        }
        let next = page["pagination"]["next"].as_str().unwrap();
        after = format!("&after={next}");
    }
}
