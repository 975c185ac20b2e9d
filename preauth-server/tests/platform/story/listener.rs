//! Who listens in the story.

use serde_json::Value;

use crate::scene::Scene;
use crate::support::TestReceiver;

use super::steps::told;

/// A company that listens at its own endpoint.
pub(super) struct Listener {
    company: String,
    secret: String,
    /// What it must have heard so far.
    expected: Vec<Value>,
}

impl Listener {
    pub(super) fn new(company: String, secret: String) -> Self {
        Self {
            company,
            secret,
            expected: Vec::new(),
        }
    }

    /// Adds to what it must hear.
    pub(super) fn expect(&mut self, told: &Value) {
        self.expected.push(told.clone());
    }

    /// Waits until as many events as expected have arrived, and compares all of them, in their order.
    pub(super) async fn listen(&self, receiver: &TestReceiver) {
        let heard = self.heard(receiver).await;
        let told: Vec<_> = heard.iter().map(told).collect();
        assert_eq!(told, self.expected);
    }

    /// That of all deliveries on record none is still to come: each is of an event that was heard. The
    /// first days are no longer on record by then; what they sent was heard before later steps.
    pub(super) async fn has_nothing_to_come(&self, receiver: &TestReceiver, scene: &Scene) {
        let heard = self.heard(receiver).await;
        let path = format!("/companies/{}/deliveries?limit=100", self.company);
        let deliveries = scene.get(&path).await["data"].clone();
        let deliveries = deliveries.as_array().unwrap();
        assert!((1..100).contains(&deliveries.len()));
        for delivery in deliveries {
            let is_it = |event: &Value| event["id"] == delivery["eventId"];
            assert!(heard.iter().any(is_it), "{delivery}");
        }
    }

    /// Each event once: it may arrive again, as when a confirmation came too late.
    async fn heard(&self, receiver: &TestReceiver) -> Vec<Value> {
        let mut repeated = 0;
        loop {
            let count = self.expected.len() + repeated;
            let arrived = receiver.arrived(count, &self.secret).await;
            let mut heard: Vec<Value> = Vec::new();
            for event in &arrived {
                match heard.iter().find(|other| other["id"] == event.body["id"]) {
                    Some(first) => assert_eq!(*first, event.body),
                    None => heard.push(event.body.clone()),
                }
            }
            if heard.len() >= self.expected.len() {
                return heard;
            }
            repeated = arrived.len() - heard.len();
        }
    }
}
