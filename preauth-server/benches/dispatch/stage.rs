//! The scene of the creates' benchmark, with endpoints that hear of them.

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
        // In place of the one that is paused.
        stage.nobody_hears("payer");
        stage.hears("payer", &stage.payers);
        stage
    }

    /// Server and database.
    pub(crate) fn processes(&self) -> [u32; 2] {
        let server = self.scene.servers.first().unwrap().process();
        [server, self.scene.cluster.process]
    }

    /// Registers an endpoint of the company with this name in the scene.
    pub(crate) fn hears(&self, company: &str, receiver: &Receiver) {
        let endpoint = json!({"url": receiver.url(), "events": ["pre_authorization.created"]});
        self.platform("PUT", company, "", &endpoint);
    }

    /// Takes the endpoint of a company away, with all that waits for it.
    pub(crate) fn nobody_hears(&self, company: &str) {
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

    /// Has the payer's endpoint paused, or not.
    pub(crate) fn pause(&self, is_paused: bool) {
        let action = if is_paused { "/pause" } else { "/resume" };
        self.platform("POST", "payer", action, &json!({}));
    }

    fn platform(&self, method: &str, company: &str, action: &str, body: &Value) {
        let platform = &self.scene.servers.first().unwrap().platform;
        let company = self.scene.id(company);
        let path = format!("/companies/{company}/webhook-endpoint{action}");
        call(platform, method, &path, body);
    }
}
