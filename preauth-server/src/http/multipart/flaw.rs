//! The defects of a multipart body.

use std::io;

use thiserror::Error;

/// Why a multipart body was not read.
#[derive(Debug, Error)]
pub enum FormFlaw {
    /// The content type has no boundary, or an invalid one.
    #[error("there is no usable boundary")]
    Boundary,
    /// The framing is broken or ends too early.
    #[error("the framing of the parts is broken")]
    Framing,
    /// More parts than allowed.
    #[error("there are more than 16 parts")]
    TooManyParts,
    /// A part's headers are more than 8 KiB or 32 lines, or could be read in two ways.
    #[error("the headers of a part are too large or ambiguous")]
    PartHead,
    /// A part without `Content-Disposition: form-data` and a name.
    #[error("a part has no name")]
    Nameless,
    /// A repeated part.
    #[error("a part stands more than once")]
    Repeated,
    /// A file in a part that is not `invoiceFile`.
    #[error("a file stands in another part than invoiceFile")]
    UnexpectedFile,
    /// A file without a name, or with an invalid one.
    #[error("the file has no name, or one of unknown encoding")]
    FileName,
    /// A text with an unsupported type, charset or transfer encoding.
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
    /// The file's bytes could not be stored.
    #[error("the file could not be kept")]
    Sink(#[source] io::Error),
}
