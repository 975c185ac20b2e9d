//! Probes for an orchestrator: liveness and readiness.
//!
//! They need no token: the answers reveal nothing beyond the listener's existence. They are for
//! operators, so the reasons are in English.

use std::sync::Arc;
use std::time::Duration;

use salvo::http::{Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, Router, async_trait};

use crate::http::convert;
use crate::http::openapi::described::Described;
use crate::http::openapi::document::Content;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::answer;
use crate::http::reply::Reply;
use crate::http::request_notes::RequestNotes;
use crate::telemetry::metrics;

use super::endpoint::ok;
use super::paths::{LIVEZ, METRICS, READYZ};
use super::sections::PROBES;

answer! {
    /// All is well.
    #[derive(Debug)]
    pub(crate) struct Well = "Well" {
        /// In a word.
        status: String = "ok" => |it| it.words(["ok"]),
        /// A problem that operators should know of, though requests are served.
        #[serde(skip_serializing_if = "Option::is_none")]
        warning: Option<String> = "this machine's clock is 2.7 s ahead of the database's"
            => Schema::omitted_if_none,
    }
}

answer! {
    /// Something is wrong.
    #[derive(Debug)]
    pub(crate) struct Unwell = "Unwell" {
        /// In a word.
        status: String = "unavailable" => |it| it.words(["unavailable"]),
        /// Why, for operators.
        reason: String = "the database does not answer in time",
    }
}

/// Their part of the API's description, and that of the metrics.
pub(super) fn described() -> [Described; 3] {
    let open = |path, id, summary| {
        let operation = Described::at("get", path).titled(PROBES, id, summary);
        operation.security(Vec::new())
    };
    let probe = |path, id, summary| {
        open(path, id, summary)
            .answers(200, "Yes.", Schema::of::<Well>())
            .answers(503, "No.", Schema::of::<Unwell>())
    };
    let text = Schema::text("Prometheus' text format.", "# EOF");
    [
        probe(LIVEZ, "livez", "Does the process live?"),
        probe(READYZ, "readyz", "Can requests be served?"),
        open(METRICS, "metrics", "Metrics for monitoring").answers_content(
            200,
            "The numbers.",
            Content::of(metrics::CONTENT_TYPE, text),
        ),
    ]
}

/// A check that takes longer counts as failed.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// A problem of the process; short and without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// As probes and the log say it.
    pub en: String,
    /// The same for readers of Portuguese, who find numbers and names in the log.
    pub pt: String,
}

impl Trouble {
    /// A problem in both languages.
    #[must_use]
    pub fn new(en: impl Into<String>, pt: impl Into<String>) -> Self {
        let (en, pt) = (en.into(), pt.into());
        Self { en, pt }
    }
}

/// The health of the process.
#[async_trait]
pub trait Vitals: Send + Sync {
    /// Why the process should be restarted, if it should: only problems that a restart can solve.
    fn stall(&self) -> Option<Trouble>;

    /// Why requests should go elsewhere for now, if they should.
    async fn unreadiness(&self) -> Option<Trouble>;

    /// A problem that does not prevent requests from being served.
    fn warning(&self) -> Option<Trouble>;

    /// The metrics in Prometheus' text format. Never fails or blocks.
    async fn metrics(&self) -> String;
}

/// Why requests should go elsewhere for now; a check that takes too long counts as failed.
pub(in crate::http) async fn unreadiness(vitals: &dyn Vitals) -> Option<Trouble> {
    let checked = tokio::time::timeout(CHECK_TIMEOUT, vitals.unreadiness()).await;
    checked.unwrap_or_else(|_| {
        Some(Trouble::new(
            "the database does not answer in time",
            "o banco de dados não responde a tempo",
        ))
    })
}

/// `GET /livez` and `GET /readyz`.
pub(super) fn routes(vitals: &Arc<dyn Vitals>) -> Router {
    let probe = |question, path: &str| Probe {
        vitals: Arc::clone(vitals),
        question,
        route: path.into(),
    };
    [(Question::Lives, LIVEZ), (Question::IsReady, READYZ)]
        .into_iter()
        .fold(Router::new(), |router, (question, path)| {
            let route = Router::with_path(path)
                .get(probe(question, path))
                .head(probe(question, path));
            router.push(route)
        })
}

#[derive(Clone, Copy)]
enum Question {
    Lives,
    IsReady,
}

struct Probe {
    vitals: Arc<dyn Vitals>,
    question: Question,
    route: Arc<str>,
}

impl Probe {
    /// Why the probe fails.
    async fn reason(&self) -> Option<String> {
        let trouble = match self.question {
            Question::Lives => self.vitals.stall(),
            Question::IsReady => unreadiness(&*self.vitals).await,
        };
        trouble.map(|it| it.en)
    }
}

#[async_trait]
impl Handler for Probe {
    async fn handle(
        &self,
        _req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        let reason = self.reason().await;
        let notes = RequestNotes::of(depot);
        notes.route = Some(Arc::clone(&self.route));
        notes.cause.clone_from(&reason);
        let warning = match self.question {
            Question::Lives => None,
            Question::IsReady => self.vitals.warning().map(|it| it.en),
        };
        answer(reason, warning).write(res);
    }
}

fn answer(reason: Option<String>, warning: Option<String>) -> Reply {
    match reason {
        None => ok(&Well {
            status: "ok".to_owned(),
            warning,
        }),
        Some(reason) => {
            let status = "unavailable".to_owned();
            let body = convert::text(&Unwell { status, reason });
            Reply::json(StatusCode::SERVICE_UNAVAILABLE, body)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Arc, Probe, Question, Trouble, Vitals, async_trait};

    #[derive(Clone, Copy)]
    enum FakeVitals {
        Nothing,
        Reason(&'static str),
        Never,
    }

    #[async_trait]
    impl Vitals for FakeVitals {
        fn stall(&self) -> Option<Trouble> {
            match self {
                Self::Reason(reason) => Some(Trouble::new(*reason, *reason)),
                Self::Nothing | Self::Never => None,
            }
        }

        async fn unreadiness(&self) -> Option<Trouble> {
            if matches!(self, Self::Never) {
                std::future::pending::<()>().await;
            }
            self.stall()
        }

        fn warning(&self) -> Option<Trouble> {
            None
        }

        async fn metrics(&self) -> String {
            String::new()
        }
    }

    async fn reason(question: Question, fake: FakeVitals) -> Option<String> {
        let vitals = Arc::new(fake);
        let route = "/".into();
        let probe = Probe {
            vitals,
            question,
            route,
        };
        probe.reason().await
    }

    #[tokio::test]
    async fn a_failing_probe_answers_with_its_reason() {
        for question in [Question::Lives, Question::IsReady] {
            assert_eq!(reason(question, FakeVitals::Nothing).await, None);
            let found = reason(question, FakeVitals::Reason("it hangs")).await;
            assert_eq!(found.as_deref(), Some("it hangs"));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_check_that_never_ends_is_a_no() {
        let late = reason(Question::IsReady, FakeVitals::Never).await;
        let expected = "the database does not answer in time";
        assert_eq!(late.as_deref(), Some(expected));
    }
}
