//! The scene of the create benchmark, with endpoints that receive its events.

use serde_json::{Value, json};

use crate::http::call;
use crate::receiver::Receiver;
use crate::scene::Scene;

/// A server with one payer, whose endpoint is a receiver of the benchmark.
pub(crate) struct Stage {
    pub(crate) scene: Scene,
    pub(crate) payers: Receiver,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let stage = Self {
            scene: Scene::new(1),
            payers: Receiver::start(std::time::Duration::ZERO),
        };
        // The scene's own endpoint is paused; replace it.
        stage.delete_endpoint("payer");
        stage.register_endpoint("payer", &stage.payers);
        stage
    }

    /// Server and database.
    pub(crate) fn processes(&self) -> [u32; 2] {
        let server = self.scene.servers.first().unwrap().process();
        [server, self.scene.cluster.process]
    }

    /// Registers an endpoint for the company with this name in the scene.
    pub(crate) fn register_endpoint(&self, company: &str, receiver: &Receiver) {
        self.register(self.scene.id(company), receiver);
    }

    /// The same for a company with this id.
    pub(crate) fn register(&self, company: &str, receiver: &Receiver) {
        let endpoint = json!({"url": receiver.url(), "events": ["pre_authorization.created"]});
        self.platform("PUT", company, "", &endpoint);
    }

    /// Deletes the endpoint of a company and all deliveries queued for it.
    pub(crate) fn delete_endpoint(&self, company: &str) {
        let company = self.scene.id(company);
        let sql = |statement: String| self.scene.cluster.sql(&statement);
        sql(format!(
            "UPDATE endpoints SET deleted_at = 1
             WHERE head_office_id = '{company}' AND deleted_at IS NULL"
        ));
        sql(format!(
            "UPDATE deliveries SET status = 'FAILED', ended_at = 1, next_attempt_at = NULL,
                 leased_until = NULL
             WHERE status = 'PENDING' AND head_office_id = '{company}'"
        ));
    }

    /// Pauses or resumes the payer's endpoint.
    pub(crate) fn pause(&self, is_paused: bool) {
        let action = if is_paused { "/pause" } else { "/resume" };
        self.platform("POST", self.scene.id("payer"), action, &json!({}));
    }

    fn platform(&self, method: &str, company: &str, action: &str, body: &Value) {
        let platform = &self.scene.servers.first().unwrap().platform;
        let path = format!("/companies/{company}/webhook-endpoint{action}");
        call(platform, method, &path, body);
    }
}
