//! Offers in batches.

mod batch;

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use preauth_core::value::IdempotencyKey;
use preauth_core::wire::PreAuthorization;

use crate::{Client, Error, NewPreAuthorization};

use batch::{Answered, Entry, Sending, Settled};

/// Number of batches that are sent at the same time at first: while one is committed, the next one is on its way.
const FIRST_IN_FLIGHT: usize = 2;
/// Maximum number of batches that are sent at the same time.
const MAX_IN_FLIGHT: usize = 4;
/// Batches settled whole that allow one more at the same time, once the service has refused a part of one.
const GROWS_AFTER_REFUSAL: usize = 8;

/// The outcome of one offer of [`Client::create_many`].
#[derive(Debug)]
#[non_exhaustive]
pub struct ManyOutcome {
    /// The place of the offer among those given, from 0.
    pub index: usize,
    /// The key under which it was sent.
    pub idempotency_key: IdempotencyKey,
    /// The operation, or the error of a single create. Where it is [retryable](Error::is_retryable), it is not known whether
    /// there is an operation: send the offer again under this key, and do not make a new one. A 401 or 403 is no outcome
    /// of an offer: it ends [`CreateMany`].
    pub result: Result<ManyCreated, Error>,
}

/// An operation that [`Client::create_many`] created.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ManyCreated {
    /// The operation as it was created.
    pub operation: PreAuthorization,
    /// Whether an earlier request created it under the same key: of an earlier run, or of this one, if its answer was
    /// lost.
    pub is_replayed: bool,
}

/// How far [`CreateMany`] is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The offers given.
    pub total: usize,
    /// Offers whose operation was created by the request that was answered.
    pub created: usize,
    /// Offers whose operation an earlier request created under the same key, of this run or of one before.
    pub replayed: usize,
    /// Offers that were refused, or given up after all attempts.
    pub failed: usize,
}

/// Offers being sent in batches: a [`Stream`] of their outcomes, also usable through [`next`](Self::next)
/// alone. Outcomes come as batches are answered, not in the order of the offers.
///
/// An `Err` is a batch that could not be sent, after all attempts of the
/// [retry policy](crate::RetryPolicy). Its offers are kept. If the error is
/// [retryable](Error::is_retryable), the next poll sends them again; any other error ends the stream, and
/// [`into_unsettled`](Self::into_unsettled) returns what has no outcome. An offer with a file is a batch of its own: it
/// is given up, which is its outcome, when as many calls as the policy has attempts ended in a status from 500 to 504
/// without a `Retry-After`. A connection, the request limit, or a service that says when to come again is no reason to
/// give it up; it is sent again after the time that the service asked for.
///
/// A key that expires or is revoked, a user who loses a permission, or a company that is suspended may refuse a part of a
/// batch that is under way, with 401 or 403. These offers are kept as well. The outcomes of the other offers of the batch
/// come first; then that error ends the stream.
///
/// Every offer is sent under one key, however often; so nothing is created twice, even if the program
/// ends meanwhile and sends the same offers with the same keys again.
#[must_use = "nothing is sent before an outcome is asked for"]
pub struct CreateMany {
    client: Client,
    waiting: VecDeque<Entry>,
    sending: Vec<Sending>,
    /// Outcomes that were not returned yet.
    found: VecDeque<(Entry, ManyOutcome)>,
    progress: Progress,
    pace: Pace,
    /// The refusal of the key by which it ends; returned after the outcomes that came with it.
    refusal: Option<Error>,
    is_over: bool,
}

/// How many batches may be on their way at the same time: one more after each that is settled whole, and half as many
/// when the service refuses a part of one for now; after that it takes several to make one more. A service that is
/// asked for more than it can do would refuse the same offers again and again.
#[derive(Clone, Copy, Debug)]
struct Pace {
    in_flight: usize,
    /// Batches that were settled whole since the last change.
    settled: usize,
    /// How many of these make one more.
    grows_after: usize,
}

impl Pace {
    const fn begin() -> Self {
        Self {
            in_flight: FIRST_IN_FLIGHT,
            settled: 0,
            grows_after: 1,
        }
    }

    fn answered(&mut self, is_settled: bool) {
        if !is_settled {
            *self = Self {
                in_flight: self.in_flight.div_euclid(2).max(1),
                settled: 0,
                grows_after: GROWS_AFTER_REFUSAL,
            };
            return;
        }
        self.settled = self.settled.saturating_add(1);
        if self.settled >= self.grows_after && self.in_flight < MAX_IN_FLIGHT {
            self.in_flight = self.in_flight.saturating_add(1);
            self.settled = 0;
        }
    }
}

impl CreateMany {
    pub(crate) fn new(
        client: Client,
        offers: impl IntoIterator<Item = NewPreAuthorization>,
    ) -> Result<Self, Error> {
        let offers = offers.into_iter().enumerate();
        let waiting: VecDeque<_> = offers
            .map(|(index, offer)| Entry::new(index, offer))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            client,
            progress: Progress {
                total: waiting.len(),
                ..Progress::default()
            },
            waiting,
            sending: Vec::new(),
            found: VecDeque::new(),
            pace: Pace::begin(),
            refusal: None,
            is_over: false,
        })
    }

    /// The next outcome; `None` when every offer has one.
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<ManyOutcome, Error>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// How far it is. An offer counts once its outcome was returned.
    #[must_use]
    pub const fn progress(&self) -> Progress {
        self.progress
    }

    /// The offers of which no outcome was returned, with their keys. Some may have been created: sent again
    /// under the same keys they are created once.
    #[must_use]
    pub fn into_unsettled(self) -> Vec<NewPreAuthorization> {
        let sent = self.sending.into_iter().flat_map(Sending::into_entries);
        let found = self.found.into_iter().map(|(entry, _)| entry);
        let mut entries: Vec<_> = sent.chain(self.waiting).chain(found).collect();
        entries.sort_by_key(|entry| entry.index);
        entries.into_iter().map(Entry::into_offer).collect()
    }

    fn take_in(&mut self, answered: Answered) -> Result<(), Error> {
        let Settled {
            outcomes,
            again,
            refusal,
        } = match answered {
            Ok(answered) => answered,
            Err((entries, error)) => {
                self.pace.answered(false);
                self.is_over |= !error.is_retryable();
                // In the order in which they were given.
                for entry in entries.into_iter().rev() {
                    self.waiting.push_front(entry);
                }
                return Err(error);
            }
        };
        self.pace.answered(again.is_empty());
        self.waiting.extend(again);
        self.found.extend(outcomes);
        self.is_over |= refusal.is_some();
        self.refusal = refusal;
        Ok(())
    }

    fn give(&mut self, outcome: ManyOutcome) -> ManyOutcome {
        let count = match &outcome.result {
            Ok(created) if created.is_replayed => &mut self.progress.replayed,
            Ok(_) => &mut self.progress.created,
            Err(_) => &mut self.progress.failed,
        };
        *count = count.saturating_add(1);
        outcome
    }
}

impl Stream for CreateMany {
    type Item = Result<ManyOutcome, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some((_, outcome)) = self.found.pop_front() {
                return Poll::Ready(Some(Ok(self.give(outcome))));
            }
            if let Some(error) = self.refusal.take() {
                return Poll::Ready(Some(Err(error)));
            }
            if self.is_over {
                return Poll::Ready(None);
            }
            while self.sending.len() < self.pace.in_flight && !self.waiting.is_empty() {
                let client = self.client.clone();
                let sending = Sending::begin(&client, &mut self.waiting);
                self.sending.push(sending);
            }
            if self.sending.is_empty() {
                return Poll::Ready(None);
            }
            let ready = self
                .sending
                .iter_mut()
                .enumerate()
                .find_map(|(place, sending)| match sending.poll(context) {
                    Poll::Ready(answered) => Some((place, answered)),
                    Poll::Pending => None,
                });
            let Some((place, answered)) = ready else {
                return Poll::Pending;
            };
            drop(self.sending.swap_remove(place));
            if let Err(error) = self.take_in(answered) {
                return Poll::Ready(Some(Err(error)));
            }
        }
    }
}

impl fmt::Debug for CreateMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CreateMany")
            .field("progress", &self.progress)
            .field("is_over", &self.is_over)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Pace;

    #[test]
    fn more_batches_are_on_their_way_until_the_service_refuses_a_part_of_one() {
        let mut pace = Pace::begin();
        let mut answered = |is_settled| {
            pace.answered(is_settled);
            pace.in_flight
        };
        assert_eq!([true, true, true].map(&mut answered), [3, 4, 4]);
        assert_eq!([false, false, false].map(&mut answered), [2, 1, 1]);
        assert_eq!([true; 8].map(&mut answered), [1, 1, 1, 1, 1, 1, 1, 2]);
        assert_eq!([true; 8].map(&mut answered), [2, 2, 2, 2, 2, 2, 2, 3]);
    }
}
