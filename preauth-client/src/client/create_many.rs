//! Offering many advances.

use super::Client;
use crate::{CreateMany, Error, NewPreAuthorization};

impl Client {
    /// Offers many advances, in batches of up to 100; an offer with a file is sent alone.
    /// [`POST /api/integration/v1/pre-authorizations/batch`](https://example.com/preauth/blob/main/docs/reference.md#post-apiintegrationv1pre-authorizationsbatch).
    ///
    /// Each offer is decided on its own, as by [`create`](Self::create), under its own idempotency key or a
    /// random one. With keys of your own a program that was ended in between sends all of them again, and
    /// nothing is created twice. An offer that failed for a moment is sent again in a later batch, as the
    /// [retry policy](crate::RetryPolicy) allows. A key that is refused, even in the middle of a batch, is the outcome of
    /// no offer: it ends the stream, and [`into_unsettled`](CreateMany::into_unsettled) returns the offers that are left.
    ///
    /// Up to four batches are on their way at a time, fewer once the service refuses a part of one for now; so of
    /// two offers of one invoice in different batches either may be the one that is accepted.
    ///
    /// # Errors
    ///
    /// Fails only if no random key can be drawn.
    ///
    /// ```no_run
    /// use preauth_client::{Client, NewPreAuthorization};
    ///
    /// # async fn example(client: Client, night: Vec<NewPreAuthorization>) -> Result<(), preauth_client::Error> {
    /// let mut offers = client.create_many(night)?;
    /// while let Some(outcome) = offers.next().await {
    ///     match outcome {
    ///         Ok(outcome) => match outcome.result {
    ///             Ok(created) => println!("{}: {}", outcome.index, created.operation.id),
    ///             Err(refusal) => println!("{}: {refusal}", outcome.index),
    ///         },
    ///         // The next turn sends the batch again.
    ///         Err(error) if error.is_retryable() => eprintln!("{error}"),
    ///         Err(error) => eprintln!("stopped: {error}"),
    ///     }
    /// }
    /// println!("{:?}", offers.progress());
    /// for offer in offers.into_unsettled() {
    ///     // Only after an error that stopped it. Keep it with its key, to offer it once that is mended.
    /// #     drop(offer);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn create_many(
        &self,
        offers: impl IntoIterator<Item = NewPreAuthorization>,
    ) -> Result<CreateMany, Error> {
        CreateMany::new(self.clone(), offers)
    }
}
