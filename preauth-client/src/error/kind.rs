//! The kinds of failure.

/// What kind of failure an [`Error`](crate::Error) is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The client was set up wrongly; nothing was sent.
    Config,
    /// The operating system gave no random bytes for an idempotency key; nothing was sent.
    Randomness,
    /// The invoice file could not be read, or was a stream that an earlier create has read. If it was a
    /// stream, a part may have been sent; the service does nothing with a part.
    File,
    /// No connection could be made; nothing was sent.
    Connect,
    /// No complete answer in time; whether the request was carried out is unknown.
    Timeout,
    /// The exchange broke off; whether the request was carried out is unknown.
    Transport,
    /// The service refused, in the words of the contract: see [`Error::code`](crate::Error::code).
    Api,
    /// An answer that is neither success nor a refusal in the words of the contract: a redirect, or
    /// a page of something between client and service, whatever its status. Whether the request was
    /// carried out is unknown.
    UnexpectedAnswer,
    /// Success, but in a shape that this version cannot read: the request was carried out.
    UnreadableSuccess,
    /// Success, but longer than the client accepts: the request was carried out.
    AnswerTooLarge,
}
