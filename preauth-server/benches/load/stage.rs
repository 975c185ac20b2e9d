//! The scene of the create benchmark, with endpoints that receive its events.

use std::time::Duration;

use serde_json::json;

use crate::company;
use crate::http::call;
use crate::receiver::Receiver;
use crate::run::Run;
use crate::scene::Scene;
use crate::server::Disk;

/// A server with one payer, whose endpoint is a receiver of the benchmark.
pub(crate) struct Stage {
    pub(crate) scene: Scene,
    pub(crate) payers: Receiver,
}

impl Stage {
    pub(crate) fn new(run: &Run) -> Self {
        let stage = Self {
            scene: Scene::postgres(run),
            payers: Receiver::start(Duration::ZERO),
        };
        // The scene's own endpoint is paused; replace it.
        let payer = &stage.scene.payer.id;
        stage.delete_endpoint(payer);
        stage.register_endpoint(payer, &stage.payers);
        stage
    }

    /// The same on SQLite.
    pub(crate) fn sqlite() -> Self {
        let stage = Self {
            scene: Scene::sqlite(Disk::Own),
            payers: Receiver::start(Duration::ZERO),
        };
        // The scene's own endpoint is paused; nothing waits for it yet.
        stage.register_endpoint(&stage.scene.payer.id, &stage.payers);
        stage.pause(false);
        stage
    }

    /// Registers an endpoint for a company.
    pub(crate) fn register_endpoint(&self, company: &str, receiver: &Receiver) {
        company::register_endpoint(self.scene.platform(), company, &receiver.url());
    }

    /// Deletes the endpoint of a company and all deliveries queued for it.
    pub(crate) fn delete_endpoint(&self, company: &str) {
        let sql = |statement: String| self.scene.cluster().sql(&statement);
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
        let action = if is_paused { "pause" } else { "resume" };
        let path = format!(
            "/companies/{}/webhook-endpoint/{action}",
            self.scene.payer.id
        );
        call(self.scene.platform(), "POST", &path, &json!({}));
    }
}
