//! ERPs that create offers continuously, and the ledger of their answers.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use preauth_client::value::{IdempotencyKey, InvoiceNumber, Money, OperationId};
use preauth_client::wire::path::PRE_AUTHORIZATIONS;
use preauth_client::{Client, NewPreAuthorization, RetryPolicy};
use reqwest::Method;
use test_support::{Answer, RawCaller, due_date};
use tokio::task::JoinSet;

use crate::chance::pause;

/// How long an ERP retries until it has a definite answer; nothing may take longer.
const PATIENCE: Duration = Duration::from_secs(90);
const SUPPLIER_EMAIL: &str = "financeiro@fornecedor.example.com";
const AMOUNT: &str = "12500.50";

/// A route to the service, with a key.
#[derive(Clone)]
pub(crate) struct Erp {
    client: Client,
    caller: RawCaller,
    supplier: String,
    ledger: Arc<Ledger>,
}

/// The requests of all ERPs of a drill, and their outcomes.
#[derive(Default)]
pub(crate) struct Ledger {
    entries: Mutex<Vec<Entry>>,
    last_number: AtomicU32,
}

/// One invoice with its offer.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) number: String,
    pub(crate) key: Option<String>,
    pub(crate) outcome: Outcome,
}

/// The ERP's final knowledge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Answered with 201 and this body.
    Created {
        id: i64,
        body: Vec<u8>,
        cancelled: bool,
    },
    /// The answer confirms that nothing was done.
    NotDone,
    /// No definite answer.
    Unknown,
}

/// Many ERPs at work.
pub(crate) struct Load {
    is_over: Arc<AtomicBool>,
    workers: JoinSet<()>,
}

impl Erp {
    pub(crate) fn new(base_url: &str, key: &str, supplier: &str, ledger: &Arc<Ledger>) -> Self {
        let patient = RetryPolicy::default()
            .max_attempts(u32::MAX)
            .first_delay(Duration::from_millis(50))
            .max_delay(Duration::from_millis(400))
            .budget(PATIENCE);
        let client = Client::builder(base_url, key).retry(patient);
        Self {
            client: client.build().unwrap(),
            caller: RawCaller::new(base_url, Some(key)),
            supplier: supplier.to_owned(),
            ledger: Arc::clone(ledger),
        }
    }

    /// The same route to the service, with offers for another supplier.
    pub(crate) fn to(&self, supplier: &str) -> Self {
        Self {
            supplier: supplier.to_owned(),
            ..self.clone()
        }
    }

    pub(crate) const fn client(&self) -> &Client {
        &self.client
    }

    /// An unused invoice number.
    pub(crate) fn next_number(&self) -> String {
        let number = self.ledger.last_number.fetch_add(1, Ordering::Relaxed);
        format!("NF-{number}")
    }

    /// Offers a new invoice under a key, repeatedly until it is created.
    pub(crate) async fn offer(&self) -> OperationId {
        let number = self.next_number();
        let key = format!("pedido:{number}");
        let created = self.client.create(&self.new_offer(&number, &key)).await;
        let created = created.unwrap_or_else(|error| panic!("{number}: {error:?}"));
        let outcome = Outcome::Created {
            id: created.id.get(),
            body: created.raw().to_vec(),
            cancelled: false,
        };
        self.ledger.add(number, Some(key), outcome);
        created.id
    }

    /// Offers so many new invoices in batches, each under a key of its own, until all are created. Returns how many of
    /// them an attempt had created whose answer was lost.
    pub(crate) async fn offer_together(&self, count: usize) -> usize {
        let numbers: Vec<_> = std::iter::repeat_with(|| self.next_number())
            .take(count)
            .collect();
        let key = |number: &str| format!("pedido:{number}");
        let offers = numbers.iter().map(|it| self.new_offer(it, &key(it)));
        let mut offering = self.client.create_many(offers).unwrap();
        let mut created = Vec::with_capacity(count);
        while let Some(outcome) = offering.next().await {
            // A batch that could not be sent is sent again.
            let Ok(outcome) = outcome else { continue };
            let id = outcome.result.unwrap().operation.id;
            created.push((&numbers[outcome.index], id.get()));
        }
        for (number, id) in created {
            let (body, _) = self.repeat(number, &key(number)).await;
            let outcome = Outcome::Created {
                id,
                body,
                cancelled: false,
            };
            self.ledger.add(number.clone(), Some(key(number)), outcome);
        }
        let progress = offering.progress();
        assert_eq!(progress.created + progress.replayed, count);
        progress.replayed
    }

    /// Repeats an offer that was answered with 201: the bytes of the answer, and whether it is
    /// marked as a replay.
    pub(crate) async fn repeat(&self, number: &str, key: &str) -> (Vec<u8>, bool) {
        let created = self.client.create(&self.new_offer(number, key)).await;
        let created = created.unwrap_or_else(|error| panic!("{key}: {error:?}"));
        (created.raw().to_vec(), created.is_replayed())
    }

    /// Offers a new invoice once, without a key.
    pub(crate) async fn offer_once(&self) {
        self.offer_once_to(SUPPLIER_EMAIL).await;
    }

    /// The same to a supplier at this address; whether it was created.
    pub(crate) async fn offer_once_to(&self, email: &str) -> bool {
        let number = self.next_number();
        let answer = self.post_to(email, &number, &[]).await;
        match answer {
            Ok(answer) if answer.status == 201 => {
                self.ledger.note_answer(&number, None, &answer);
                return true;
            }
            Ok(answer) if answer.refusal() == (503, "SERVICE_UNAVAILABLE".to_owned()) => {
                self.ledger.add(number, None, Outcome::NotDone);
            }
            Ok(answer) => {
                let refusal = answer.refusal();
                assert_eq!(refusal, (500, "INTERNAL_ERROR".to_owned()), "{number}");
                self.ledger.add(number, None, Outcome::Unknown);
            }
            Err(_) => self.ledger.add(number, None, Outcome::Unknown),
        }
        false
    }

    /// One request with these headers; the ledger is not changed.
    pub(crate) async fn post(
        &self,
        number: &str,
        headers: &[(&str, &str)],
    ) -> Result<Answer, reqwest::Error> {
        self.post_to(SUPPLIER_EMAIL, number, headers).await
    }

    async fn post_to(
        &self,
        email: &str,
        number: &str,
        headers: &[(&str, &str)],
    ) -> Result<Answer, reqwest::Error> {
        let body = serde_json::json!({
            "supplier": {"cnpj": self.supplier, "email": email},
            "invoice": {"amount": AMOUNT, "dueDate": due_date(60).to_string(), "number": number},
        });
        let mut all = vec![("content-type", "application/json")];
        all.extend_from_slice(headers);
        let body = Some(body.to_string().into_bytes());
        self.caller
            .try_send(Method::POST, PRE_AUTHORIZATIONS, &all, body)
            .await
    }

    /// The pages of the list of its operations, as they are answered.
    pub(crate) async fn listed(&self, limit: u32) -> Vec<String> {
        let mut pages = Vec::new();
        loop {
            let page = pages.len() + 1;
            let path = format!("{PRE_AUTHORIZATIONS}?page={page}&limit={limit}");
            let answer = self.caller.get(&path).await;
            assert_eq!(answer.status, 200, "{}", answer.text);
            if answer.json()["data"].as_array().unwrap().is_empty() {
                return pages;
            }
            pages.push(answer.text);
        }
    }

    /// Cancels its own offer, repeatedly until the outcome is definite.
    async fn cancel(&self, id: OperationId) {
        let cancelled = self.client.cancel(id).await;
        let cancelled = cancelled.unwrap_or_else(|error| panic!("cancel {id}: {error:?}"));
        assert_eq!(cancelled.status.as_str(), "REPROVED");
        self.ledger.note_cancelled(id);
    }

    fn new_offer(&self, number: &str, key: &str) -> NewPreAuthorization {
        NewPreAuthorization::new(
            self.supplier.parse().unwrap(),
            SUPPLIER_EMAIL.parse().unwrap(),
            Money::parse(AMOUNT).unwrap(),
            due_date(60).to_string().parse().unwrap(),
            InvoiceNumber::parse(number).unwrap(),
        )
        .idempotency_key(IdempotencyKey::parse(key).unwrap())
    }

    /// Offers with a key, without a key, and with a key and a cancel afterwards, in turn.
    async fn work(self, is_over: Arc<AtomicBool>) {
        for turn in 0_u32.. {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            match turn % 4 {
                0 => self.offer_once().await,
                1 => self.cancel(self.offer().await).await,
                _ => drop(self.offer().await),
            }
            tokio::time::sleep(pause(5, 40)).await;
        }
    }

    /// Offers one invoice after the other, without a pause.
    async fn work_on(self, is_over: Arc<AtomicBool>) {
        while !is_over.load(Ordering::Relaxed) {
            self.offer().await;
        }
    }
}

impl Load {
    /// Starts `workers` ERPs, spread over the routes in turn.
    pub(crate) fn begin(ways: &[Erp], workers: usize) -> Self {
        Self::spread(ways, workers, Erp::work)
    }

    /// The same, without a pause between two offers.
    pub(crate) fn begin_without_pause(ways: &[Erp], workers: usize) -> Self {
        Self::spread(ways, workers, Erp::work_on)
    }

    fn spread<F: Future<Output = ()> + Send + 'static>(
        ways: &[Erp],
        workers: usize,
        work: impl Fn(Erp, Arc<AtomicBool>) -> F,
    ) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let erps = ways.iter().cycle().take(workers).cloned();
        let workers = erps.map(|erp| work(erp, Arc::clone(&is_over))).collect();
        Self { is_over, workers }
    }

    /// Lets every ERP complete its current request.
    pub(crate) async fn end(mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        while let Some(worker) = self.workers.join_next().await {
            worker.unwrap();
        }
    }
}

impl Ledger {
    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.entries.lock().unwrap().clone()
    }

    /// The number of offers answered with 201.
    pub(crate) fn acknowledged(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Created { .. }))
    }

    /// The number of offers whose outcome is unknown.
    pub(crate) fn unknown(&self) -> usize {
        self.count(|outcome| *outcome == Outcome::Unknown)
    }

    fn count(&self, is: impl Fn(&Outcome) -> bool) -> usize {
        let entries = self.entries.lock().unwrap();
        entries.iter().filter(|entry| is(&entry.outcome)).count()
    }

    /// Records a 201 to a request that the drill sent itself.
    pub(crate) fn note_answer(&self, number: &str, key: Option<&str>, created: &Answer) {
        let outcome = Outcome::Created {
            id: created.json()["id"].as_i64().unwrap(),
            body: created.text.clone().into_bytes(),
            cancelled: false,
        };
        self.add(number.to_owned(), key.map(str::to_owned), outcome);
    }

    fn add(&self, number: String, key: Option<String>, outcome: Outcome) {
        self.entries.lock().unwrap().push(Entry {
            number,
            key,
            outcome,
        });
    }

    fn note_cancelled(&self, operation: OperationId) {
        let mut entries = self.entries.lock().unwrap();
        let outcome = entries
            .iter_mut()
            .find_map(|entry| match &mut entry.outcome {
                Outcome::Created { id, cancelled, .. } if *id == operation.get() => Some(cancelled),
                _ => None,
            });
        *outcome.unwrap() = true;
    }
}
