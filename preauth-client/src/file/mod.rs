//! The invoice file of a create.

mod body;
mod content;
mod form;

use std::fmt;
use std::io;
use std::path::PathBuf;

use bytes::Bytes;
use futures_core::Stream;
use preauth_core::value::is_hidden;

use content::{Content, SharedStream};

pub(crate) use body::UnreadableFile;
pub(crate) use form::Form;

/// A PDF or XML document attached to an offer.
/// [Contract, "Invoice file rules"](https://example.com/preauth/blob/main/docs/reference.md#invoice-file-rules).
///
/// The service inspects the content and refuses a file that does not match its type.
///
/// ```
/// use preauth_client::{FileType, InvoiceFile};
///
/// // Read when the call begins, and kept for all its attempts.
/// let scanned = InvoiceFile::from_path("invoices/NF-1.pdf")?;
/// let made = InvoiceFile::from_bytes("NF-2.xml", FileType::Xml, "<nfe/>")?;
/// # Ok::<(), preauth_client::FileError>(())
/// ```
#[derive(Clone)]
pub struct InvoiceFile {
    name: String,
    file_type: FileType,
    content: Content,
}

/// The type of an invoice file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileType {
    /// `application/pdf`.
    Pdf,
    /// `application/xml`.
    Xml,
}

/// Why a file cannot be attached to an offer.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The name is empty or only white space.
    #[error("the file has no name")]
    Nameless,
    /// The name has more characters than the service accepts.
    #[error("the file name has {found} characters, the maximum is 255")]
    NameTooLong {
        /// Length of the name, in characters.
        found: usize,
    },
    /// The name has an invisible character, such as a control character, or is not Unicode.
    #[error("the file name has an invisible character, or is not unicode")]
    NameCharacter,
    /// The name ends in neither `.pdf` nor `.xml`.
    #[error("the file name ends in neither .pdf nor .xml")]
    UnknownType,
    /// The file has more bytes than the service accepts.
    #[error("the file has {found} bytes, the maximum is 10485760")]
    TooLarge {
        /// Size of the file, in bytes.
        found: u64,
    },
}

impl fmt::Debug for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl InvoiceFile {
    /// Maximum size of a file in bytes: 10 MB, meaning 10 x 2^20.
    pub const MAX_BYTES: u64 = 10 * 1024 * 1024;

    /// Maximum length of a file name in characters.
    pub const MAX_NAME_CHARS: usize = 255;

    /// A file in memory.
    pub fn from_bytes(
        name: &str,
        file_type: FileType,
        content: impl Into<Bytes>,
    ) -> Result<Self, FileError> {
        let content = content.into();
        check_size(u64::try_from(content.len()).unwrap_or(u64::MAX))?;
        Self::new(name, file_type, Content::Bytes(content))
    }

    /// A file on disk, whose type follows from the extension of its name. The whole file is read when the
    /// create begins; if that fails, the create returns an [`ErrorKind::File`](crate::ErrorKind::File).
    pub fn from_path(path: impl Into<PathBuf>) -> Result<Self, FileError> {
        let path = path.into();
        let name = path.file_name().ok_or(FileError::Nameless)?;
        let name = name.to_str().ok_or(FileError::NameCharacter)?.to_owned();
        let extension = path.extension().unwrap_or_default();
        let file_type = if extension.eq_ignore_ascii_case("pdf") {
            FileType::Pdf
        } else if extension.eq_ignore_ascii_case("xml") {
            FileType::Xml
        } else {
            return Err(FileError::UnknownType);
        };
        Self::new(&name, file_type, Content::Path(path))
    }

    /// A file that is read while it is sent, without holding it in memory.
    ///
    /// It can be sent once, and clones share it. If an attempt fails after it began to read the stream,
    /// the create is not retried. Create again with a new stream under [the same
    /// key](crate::Error::idempotency_key).
    pub fn from_stream<S, B>(name: &str, file_type: FileType, stream: S) -> Result<Self, FileError>
    where
        S: Stream<Item = io::Result<B>> + Send + 'static,
        B: Into<Bytes>,
    {
        Self::new(name, file_type, Content::Stream(SharedStream::new(stream)))
    }

    /// Whether it is a stream that an attempt has begun to read.
    pub(crate) fn is_spent(&self) -> bool {
        matches!(&self.content, Content::Stream(stream) if !stream.is_there())
    }

    fn new(name: &str, file_type: FileType, content: Content) -> Result<Self, FileError> {
        if name.trim().is_empty() {
            return Err(FileError::Nameless);
        }
        if name.chars().any(is_hidden) {
            return Err(FileError::NameCharacter);
        }
        let found = name.chars().count();
        if found > Self::MAX_NAME_CHARS {
            return Err(FileError::NameTooLong { found });
        }
        Ok(Self {
            name: name.to_owned(),
            file_type,
            content,
        })
    }

    /// The file name that is sent.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of the file.
    #[must_use]
    pub const fn file_type(&self) -> FileType {
        self.file_type
    }
}

impl FileType {
    /// The media type, as sent in the request.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Xml => "application/xml",
        }
    }
}

fn check_size(found: u64) -> Result<(), FileError> {
    if found > InvoiceFile::MAX_BYTES {
        return Err(FileError::TooLarge { found });
    }
    Ok(())
}

impl fmt::Debug for InvoiceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InvoiceFile")
            .field("name", &self.name)
            .field("file_type", &self.file_type)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Result<InvoiceFile, FileError> {
        InvoiceFile::from_bytes(name, FileType::Pdf, "%PDF-1.7")
    }

    #[test]
    fn a_name_is_text_of_255_characters_at_most() {
        assert_eq!(named("é".repeat(255).as_str()).unwrap().name().len(), 510);
        let long = named("é".repeat(256).as_str()).unwrap_err();
        assert_eq!(long, FileError::NameTooLong { found: 256 });
        assert_eq!(named(" ").unwrap_err(), FileError::Nameless);
        assert_eq!(named("a\r\n.pdf").unwrap_err(), FileError::NameCharacter);
    }

    #[test]
    fn a_path_has_name_and_type_without_being_read() {
        let file = InvoiceFile::from_path("no/such/folder/NF-1.PDF").unwrap();
        assert_eq!((file.name(), file.file_type()), ("NF-1.PDF", FileType::Pdf));
        let file = InvoiceFile::from_path("nfe.xml").unwrap();
        assert_eq!(file.file_type().as_str(), "application/xml");
        for (path, error) in [
            ("nf.png", FileError::UnknownType),
            ("pdf", FileError::UnknownType),
            ("..", FileError::Nameless),
        ] {
            assert_eq!(InvoiceFile::from_path(path).unwrap_err(), error, "{path}");
        }
    }

    #[test]
    fn ten_megabytes_are_taken_and_a_byte_more_is_not() {
        let most = usize::try_from(InvoiceFile::MAX_BYTES).unwrap();
        let sized = |bytes| InvoiceFile::from_bytes("a.pdf", FileType::Pdf, vec![0; bytes]);
        assert!(sized(most).is_ok());
        let found = InvoiceFile::MAX_BYTES + 1;
        assert_eq!(sized(most + 1).unwrap_err(), FileError::TooLarge { found });
    }
}
