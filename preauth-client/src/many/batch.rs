//! One batch on its way: offers without files together, an offer with a file alone, as a single create.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use preauth_core::value::IdempotencyKey;
use preauth_core::wire::{
    BatchResult, BatchResults, CreateBatch, CreateBatchItem, MAX_BATCH_BYTES, MAX_BATCH_ITEMS, path,
};

use crate::caller::Task;
use crate::idempotency::draw_key;
use crate::{Call, Client, Error, ErrorKind, InvoiceFile, NewPreAuthorization, Response};

use super::{ManyCreated, ManyOutcome};

/// The bytes of a batch besides its items, and of an item besides its parts.
const FRAME_BYTES: usize = 64;

/// An offer without an outcome.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) index: usize,
    key: IdempotencyKey,
    offer: NewPreAuthorization,
    /// Batches that it was sent in; of an offer with a file, calls whose failure may be its own.
    attempts: u32,
    /// How long to wait before it is sent again.
    wait: Duration,
}

/// Outcomes, and the offers that have none yet.
pub(super) struct Settled {
    pub(super) outcomes: Vec<(Entry, ManyOutcome)>,
    /// Sent again, unless `refusal` ends the stream.
    pub(super) again: Vec<Entry>,
    /// The key was refused while the batch was carried out.
    pub(super) refusal: Option<Error>,
}

/// The answer to a batch; an error is returned with the offers, which have no outcome.
pub(super) type Answered = Result<Settled, (Vec<Entry>, Error)>;

/// A batch on its way.
pub(super) struct Sending {
    entries: Arc<Vec<Entry>>,
    answer: Pin<Box<dyn Future<Output = Answered> + Send>>,
}

impl Entry {
    pub(super) fn new(index: usize, offer: NewPreAuthorization) -> Result<Self, Error> {
        let key = match &offer.idempotency_key {
            Some(key) => key.clone(),
            None => draw_key()?,
        };
        Ok(Self {
            index,
            key,
            offer,
            attempts: 0,
            wait: Duration::ZERO,
        })
    }

    /// The offer, with its key.
    pub(super) fn into_offer(self) -> NewPreAuthorization {
        self.offer.idempotency_key(self.key)
    }

    fn is_spent(&self) -> bool {
        let file = self.offer.file.as_ref();
        file.is_some_and(InvoiceFile::is_spent)
    }

    fn item(&self) -> CreateBatchItem<'_> {
        CreateBatchItem::new(self.key.clone(), &self.offer.body)
    }

    /// The bytes that it takes in a batch.
    fn bytes(&self) -> usize {
        let json = serde_json::to_vec(&self.item()).unwrap_or_default();
        json.len().saturating_add(FRAME_BYTES)
    }

    fn settled(&self, result: Result<ManyCreated, Error>) -> (Self, ManyOutcome) {
        let outcome = ManyOutcome {
            index: self.index,
            idempotency_key: self.key.clone(),
            result,
        };
        (self.clone(), outcome)
    }
}

impl Sending {
    /// Sends the first of the waiting offers, as many as a batch takes.
    pub(super) fn begin(client: &Client, waiting: &mut VecDeque<Entry>) -> Self {
        let entries = Arc::new(cut(waiting));
        let (client, sent) = (client.clone(), Arc::clone(&entries));
        Self {
            entries,
            answer: Box::pin(async move { send(&client, &sent).await }),
        }
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Answered> {
        self.answer.as_mut().poll(context)
    }

    pub(super) fn into_entries(self) -> Vec<Entry> {
        self.entries.as_ref().clone()
    }
}

fn cut(waiting: &mut VecDeque<Entry>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut bytes = FRAME_BYTES;
    while let Some(next) = waiting.front() {
        let is_alone = next.offer.file.is_some();
        bytes = bytes.saturating_add(next.bytes());
        let is_full = entries.len() >= MAX_BATCH_ITEMS || bytes > MAX_BATCH_BYTES;
        if !entries.is_empty() && (is_alone || is_full) {
            break;
        }
        entries.extend(waiting.pop_front());
        if is_alone {
            break;
        }
    }
    entries
}

async fn send(client: &Client, entries: &[Entry]) -> Answered {
    let wait = entries.iter().map(|entry| entry.wait).max();
    if let Some(wait) = wait.filter(|wait| !wait.is_zero()) {
        client.caller().timing.sleep(wait).await;
    }
    if let [entry] = entries
        && entry.offer.file.is_some()
    {
        return send_alone(client, entry).await;
    }
    match send_together(client, entries).await {
        Ok(response) => Ok(sorted(client, entries, response)),
        Err(error) => {
            let mut kept = entries.to_vec();
            if error.is_retryable() {
                let wait = client.caller().wait_as_asked(error.retry_after());
                for entry in &mut kept {
                    entry.wait = wait;
                }
            }
            Err((kept, error))
        }
    }
}

async fn send_together(
    client: &Client,
    entries: &[Entry],
) -> Result<Response<BatchResults>, Error> {
    let batch = CreateBatch::new(entries.iter().map(Entry::item).collect());
    let json = serde_json::to_vec(&batch)
        .map_err(|cause| Error::new(ErrorKind::Config).caused_by(cause))?;
    let task = Task::post(Call::CreateMany, client.url(path::BATCH), json.into());
    client.caller().call(task).await
}

/// An offer with a file. What would refuse every other offer, too, is no outcome of this one: a key, the request limit, a
/// connection, a service that says when to come again. Whether any other failure that may pass is its own cannot be seen:
/// it is one of the batch at first, and its outcome after as many as a call has attempts.
async fn send_alone(client: &Client, entry: &Entry) -> Answered {
    let result = match client.create(&entry.clone().into_offer()).await {
        Ok(response) => Ok(ManyCreated {
            is_replayed: response.is_replayed(),
            operation: response.into_value(),
        }),
        Err(error) if concerns_the_key(&error) => {
            return Err((vec![entry.clone()], error));
        }
        // Of a stream that was read nothing is left to send: whether it was created is not known.
        Err(error) if error.is_retryable() && !entry.is_spent() => {
            let asked_for = error.retry_after();
            let may_be_its_own =
                asked_for.is_none() && error.status().is_some_and(|status| status >= 500);
            let attempts = entry.attempts.saturating_add(u32::from(may_be_its_own));
            let wait = if may_be_its_own {
                client.caller().wait_before_again(attempts)
            } else {
                Some(client.caller().wait_as_asked(asked_for))
            };
            match wait {
                Some(wait) => {
                    let again = Entry {
                        attempts,
                        wait,
                        ..entry.clone()
                    };
                    return Err((vec![again], error));
                }
                None => Err(error),
            }
        }
        Err(error) => Err(error),
    };
    Ok(Settled {
        outcomes: vec![entry.settled(result)],
        again: Vec::new(),
        refusal: None,
    })
}

/// Each offer with its outcome, or to be sent again.
fn sorted(client: &Client, entries: &[Entry], response: Response<BatchResults>) -> Settled {
    let (head, requests) = (response.head().clone(), response.attempts());
    let mut results: Vec<Option<BatchResult>> = entries.iter().map(|_| None).collect();
    for result in response.into_value().results {
        if let Some(place) = results.get_mut(result.index) {
            *place = Some(result);
        }
    }
    let (mut outcomes, mut again, mut refusal) = (Vec::new(), Vec::new(), None);
    for (entry, result) in entries.iter().zip(results) {
        let attempts = entry.attempts.saturating_add(1);
        // Of an item that the answer leaves out nothing is known: it is sent again, under its key.
        let is_left_out = result.is_none();
        let error = match result {
            Some(BatchResult {
                pre_authorization: Some(operation),
                replayed: is_replayed,
                ..
            }) => {
                let created = ManyCreated {
                    operation,
                    is_replayed,
                };
                outcomes.push(entry.settled(Ok(created)));
                continue;
            }
            Some(result) => Error::of_item(head.clone(), result),
            None => Error::answered(ErrorKind::UnexpectedAnswer, head.clone()),
        };
        if concerns_the_key(&error) {
            // Nothing was decided about this offer: it is kept as it was, as after a batch that is refused whole.
            again.push(entry.clone());
            let error = error.of_call(Call::CreateMany, None, None, requests);
            refusal = refusal.or(Some(error));
            continue;
        }
        let error = error.of_call(Call::Create, None, Some(&entry.key), attempts);
        let may_again = is_left_out || error.is_retryable();
        let wait = client.caller().wait_before_again(attempts);
        match wait.filter(|_| may_again) {
            Some(wait) => again.push(Entry {
                attempts,
                wait,
                ..entry.clone()
            }),
            None => outcomes.push(entry.settled(Err(error))),
        }
    }
    Settled {
        outcomes,
        again,
        refusal,
    }
}

/// Whether it would refuse every other offer, too: the contract has 401 and 403 for the key, its user and its company
/// alone.
fn concerns_the_key(error: &Error) -> bool {
    matches!(error.status(), Some(401 | 403))
}
