//! All operations of a list, across its pages.

#[cfg(test)]
mod tests;
mod walk;

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use preauth_core::wire::{PreAuthorization, PreAuthorizationList};

use crate::{Client, Error, ErrorKind, ListFilter, RateLimit, Response};

use walk::Walk;

/// All operations that match a filter, most recent first: a [`Stream`], also usable through
/// [`next`](Self::next) alone.
///
/// Pages are counted from the newest operation, so they shift when operations are created or change
/// during the read. Despite such changes,
///
/// - an operation that matches the filter all the time is returned exactly once,
/// - one that is created, or starts or stops matching, during the read is returned once or not at all,
/// - ids descend.
///
/// A job may therefore cancel each operation it receives and continue to read. This takes about 14 % more
/// requests than plain pages, because each request begins with an operation that was already returned.
///
/// A [retryable](Error::is_retryable) error does not end the list: the next poll continues at the same
/// position. Any other error ends it.
///
/// ```no_run
/// use preauth_client::value::Status;
/// use preauth_client::{Client, ListFilter};
///
/// # async fn example(client: Client) -> Result<(), preauth_client::Error> {
/// let mut on_offer = client.list_all(&ListFilter::new().status(Status::InPreAuth));
/// while let Some(operation) = on_offer.next().await {
///     client.cancel(operation?.id).await?;
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is read before it is asked for"]
pub struct Operations {
    client: Client,
    filter: ListFilter,
    walk: Walk,
    found: VecDeque<PreAuthorization>,
    question: Option<Question>,
    rate_limit: Option<RateLimit>,
    is_over: bool,
}

type Question = Pin<Box<dyn Future<Output = Result<Response<PreAuthorizationList>, Error>> + Send>>;

impl Operations {
    pub(crate) fn new(client: Client, filter: ListFilter) -> Self {
        Self {
            walk: Walk::new(filter.entries_per_request()),
            client,
            filter,
            found: VecDeque::new(),
            question: None,
            rate_limit: None,
            is_over: false,
        }
    }

    /// The next operation; `None` after the last.
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<PreAuthorization, Error>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// The state of the request limit, if the last answer reported it.
    #[must_use]
    pub const fn rate_limit(&self) -> Option<RateLimit> {
        self.rate_limit
    }

    /// Requests the walk's next window.
    fn ask(&self) -> Question {
        let client = self.client.clone();
        let window = self.walk.window();
        let filter = self.filter.clone().page(window.page).limit(window.limit);
        Box::pin(async move { client.list(&filter).await })
    }

    fn take_in(
        &mut self,
        answer: Result<Response<PreAuthorizationList>, Error>,
    ) -> Result<(), Error> {
        let answer = answer.inspect_err(|error| self.is_over = !error.is_retryable())?;
        self.rate_limit = answer.rate_limit();
        match self.walk.take(answer.into_value()) {
            Ok(found) => self.found = found.into(),
            Err(error) => {
                self.is_over = true;
                return Err(Error::new(ErrorKind::UnexpectedAnswer).caused_by(error));
            }
        }
        self.is_over = self.walk.is_over();
        Ok(())
    }
}

impl Stream for Operations {
    type Item = Result<PreAuthorization, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(operation) = self.found.pop_front() {
                return Poll::Ready(Some(Ok(operation)));
            }
            if self.is_over {
                return Poll::Ready(None);
            }
            let mut question = match self.question.take() {
                Some(question) => question,
                None => self.ask(),
            };
            let Poll::Ready(answer) = question.as_mut().poll(context) else {
                self.question = Some(question);
                return Poll::Pending;
            };
            if let Err(error) = self.take_in(answer) {
                return Poll::Ready(Some(Err(error)));
            }
        }
    }
}

impl fmt::Debug for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operations")
            .field("filter", &self.filter)
            .field("is_over", &self.is_over)
            .finish_non_exhaustive()
    }
}
