//! A webhook receiver that records what arrives and when, with a configurable answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use webhook_verify::{SIGNATURE_HEADER, Secret, Verifier};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

/// Called for every request before it is answered.
pub(crate) type Witness = Box<dyn Fn() + Send + Sync>;

/// A receiver on a free port.
pub(crate) struct Receiver {
    server: MockServer,
    book: Arc<Book>,
}

#[derive(Default)]
struct Book {
    verifier: OnceLock<Verifier>,
    events: Mutex<BTreeMap<String, Event>>,
    bodies: Mutex<Vec<Vec<u8>>>,
    wrongs: Mutex<Vec<String>>,
    answer_after: Mutex<Duration>,
    witness: Mutex<Option<Witness>>,
}

/// An event, as it first arrived.
#[derive(Clone)]
pub(crate) struct Event {
    pub(crate) body: Vec<u8>,
    pub(crate) kind: String,
    pub(crate) operation: i64,
    /// Every attempt, in the order in which they arrived.
    pub(crate) arrivals: Vec<Arrival>,
}

/// An attempt, as its receiver sees it.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    /// The path that it was sent to.
    pub(crate) endpoint: String,
    pub(crate) began: Instant,
    /// When its answer was due, whether or not the sender waited for it.
    pub(crate) ended: Instant,
}

impl Receiver {
    /// Starts a receiver that answers 204 at once.
    pub(crate) async fn start() -> Self {
        // Its own record would grow with a long load.
        let server = MockServer::builder().disable_request_recording();
        let server = server.start().await;
        let book = Arc::new(Book::default());
        let respond = Keeper(Arc::clone(&book));
        Mock::given(any())
            .respond_with(respond)
            .mount(&server)
            .await;
        Self { server, book }
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/webhooks", self.server.uri())
    }

    /// Sets the secret that must sign every request.
    pub(crate) fn expect(&self, secret: &str) {
        let verifier = Verifier::new(Secret::parse(secret).unwrap());
        assert!(self.book.verifier.set(verifier).is_ok(), "set once");
    }

    /// Delays every answer from now on.
    pub(crate) fn answer_after(&self, delay: Duration) {
        *self.book.answer_after.lock().unwrap() = delay;
    }

    pub(crate) fn call(&self, witness: Witness) {
        *self.book.witness.lock().unwrap() = Some(witness);
    }

    /// The received events, by id.
    pub(crate) fn events(&self) -> BTreeMap<String, Event> {
        self.book.events.lock().unwrap().clone()
    }

    /// The body of every request, whether or not it was as it should be.
    pub(crate) fn bodies(&self) -> Vec<Vec<u8>> {
        self.book.bodies.lock().unwrap().clone()
    }

    /// The number of requests that arrived.
    pub(crate) fn arrivals(&self) -> usize {
        let events = self.book.events.lock().unwrap();
        events.values().map(|event| event.arrivals.len()).sum()
    }

    /// The number of requests that are not answered yet.
    pub(crate) fn under_way(&self) -> usize {
        let (now, events) = (Instant::now(), self.book.events.lock().unwrap());
        let arrivals = events.values().flat_map(|event| &event.arrivals);
        arrivals.filter(|arrival| arrival.ended > now).count()
    }

    /// Unexpected requests, described.
    pub(crate) fn wrongs(&self) -> Vec<String> {
        self.book.wrongs.lock().unwrap().clone()
    }
}

struct Keeper(Arc<Book>);

impl Respond for Keeper {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        self.0.bodies.lock().unwrap().push(request.body.clone());
        if let Err(wrong) = self.0.enter(request) {
            self.0.wrongs.lock().unwrap().push(wrong);
        }
        if let Some(witness) = &*self.0.witness.lock().unwrap() {
            witness();
        }
        ResponseTemplate::new(204).set_delay(*self.0.answer_after.lock().unwrap())
    }
}

impl Book {
    fn enter(&self, request: &Request) -> Result<(), String> {
        let began = Instant::now();
        let signature = request.headers.get(SIGNATURE_HEADER);
        let signature = signature.map(reqwest::header::HeaderValue::as_bytes);
        let verifier = self.verifier.get().ok_or("nothing was to arrive yet")?;
        let holds = verifier.verify_now(signature, &request.body);
        let holds = holds.map_err(|error| error.to_string())?;
        let body: Value = serde_json::from_slice(holds.body()).map_err(|e| e.to_string())?;
        let id = body["id"].as_str().ok_or("an event without id")?;
        let mut events = self.events.lock().unwrap();
        let event = events.entry(id.to_owned()).or_insert_with(|| Event {
            body: request.body.clone(),
            kind: body["type"].as_str().unwrap_or_default().to_owned(),
            operation: body["data"]["anticipationId"].as_i64().unwrap_or_default(),
            arrivals: Vec::new(),
        });
        event.arrivals.push(Arrival {
            endpoint: request.url.path().to_owned(),
            began,
            ended: began + *self.answer_after.lock().unwrap(),
        });
        if event.body == request.body {
            Ok(())
        } else {
            Err(format!("event {id} arrived with other bytes"))
        }
    }
}
