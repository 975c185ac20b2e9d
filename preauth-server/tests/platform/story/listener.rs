//! The receivers of the story.

use serde_json::Value;
use test_support::TestReceiver;

use crate::scene::Scene;

use super::steps::summary;

/// A company with its own endpoint.
pub(super) struct Listener {
    company: String,
    secret: String,
    /// The events it must have received so far.
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

    /// Adds an expected event.
    pub(super) fn expect(&mut self, event: &Value) {
        self.expected.push(event.clone());
    }

    /// Waits until as many events as expected have arrived, and compares all of them, in order.
    pub(super) async fn listen(&self, inbox: &TestReceiver) {
        let received = self.received(inbox).await;
        let summaries: Vec<_> = received.iter().map(summary).collect();
        assert_eq!(summaries, self.expected);
    }

    /// Checks that no stored delivery is pending: each one's event was received. Deliveries of the
    /// first days are deleted by then; later steps compared their events already.
    pub(super) async fn has_nothing_to_come(&self, inbox: &TestReceiver, scene: &Scene) {
        let received = self.received(inbox).await;
        let path = format!("/companies/{}/deliveries?limit=100", self.company);
        let deliveries = scene.get(&path).await["data"].clone();
        let deliveries = deliveries.as_array().unwrap();
        assert!((1..100).contains(&deliveries.len()));
        for delivery in deliveries {
            let is_it = |event: &Value| event["id"] == delivery["eventId"];
            assert!(received.iter().any(is_it), "{delivery}");
        }
    }

    /// Each event once: it may arrive again, for example after a late confirmation.
    async fn received(&self, inbox: &TestReceiver) -> Vec<Value> {
        let mut repeated = 0;
        loop {
            let count = self.expected.len() + repeated;
            let arrived = inbox.arrived(count, &self.secret).await;
            let mut received: Vec<Value> = Vec::new();
            for event in &arrived {
                match received
                    .iter()
                    .find(|other| other["id"] == event.body["id"])
                {
                    Some(first) => assert_eq!(*first, event.body),
                    None => received.push(event.body.clone()),
                }
            }
            if received.len() >= self.expected.len() {
                return received;
            }
            repeated = arrived.len() - received.len();
        }
    }
}
