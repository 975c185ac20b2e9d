//! Everything that can be wrong with a multipart body.

use std::io;

use thiserror::Error;

/// Why a multipart body was not read.
#[derive(Debug, Error)]
pub enum FormFlaw {
    /// The content type names no boundary, or one that cannot be.
    #[error("there is no usable boundary")]
    Boundary,
    /// The framing is broken or ends too early.
    #[error("the framing of the parts is broken")]
    Framing,
    /// More parts than any form has.
    #[error("there are more than 16 parts")]
    TooManyParts,
    /// A part's headers are more than 8 KiB or 32.
    #[error("the headers of a part are too large")]
    PartHead,
    /// A part without `Content-Disposition: form-data` and a name.
    #[error("a part has no name")]
    Nameless,
    /// A part stands twice.
    #[error("a part stands more than once")]
    Repeated,
    /// A file in a part that is not `invoiceFile`.
    #[error("a file stands in another part than invoiceFile")]
    UnexpectedFile,
    /// A file without a name, or with one that cannot be.
    #[error("the file has no name, or one of unknown encoding")]
    FileName,
    /// A text in a type, charset or transfer encoding that is not taken.
    #[error("a part is encoded in a way that is not taken")]
    PartEncoding,
    /// The texts are more than 256 KiB.
    #[error("the text parts are larger than 256 kib")]
    TextsTooLarge,
    /// The file, or the whole body, is too large.
    #[error("the file or the whole body is too large")]
    FileTooLarge,
    /// The connection ended before the body did.
    #[error("the body was interrupted")]
    Interrupted,
    /// The file's bytes could not be kept.
    #[error("the file could not be kept")]
    Sink(#[source] io::Error),
}
