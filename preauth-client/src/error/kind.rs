//! The kinds of failure.

/// The kind of failure of an [`Error`](crate::Error).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The client was set up wrongly; nothing was sent.
    Config,
    /// The operating system returned no random bytes for an idempotency key; nothing was sent.
    Randomness,
    /// The invoice file could not be read, or was a stream that an earlier create has read. Part of a
    /// stream may have been sent; the service does not act on a partial file.
    File,
    /// The cursor of a reader of events could not be loaded or saved; nothing was sent.
    Cursor,
    /// No connection could be made; nothing was sent.
    Connect,
    /// No complete answer arrived in time; whether the request was carried out is unknown.
    Timeout,
    /// The exchange was interrupted; whether the request was carried out is unknown.
    Transport,
    /// The service refused, in the error format of the contract: see [`Error::code`](crate::Error::code).
    Api,
    /// The answer is neither a success nor a refusal in the error format of the contract: a redirect, or
    /// a page of an intermediary between client and service, with any status. Whether the request was
    /// carried out is unknown.
    UnexpectedAnswer,
    /// Success, but in a format that this version cannot read: the request was carried out.
    UnreadableSuccess,
    /// Success, but longer than the client accepts: the request was carried out.
    AnswerTooLarge,
}
