//! The body of a create: JSON, or a form that may bring a file.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream;
use preauth_core::ErrorCode;
use preauth_core::operation::InvoiceFile;
use preauth_core::value::CompanyId;
use salvo::http::Request;
use salvo::http::header::CONTENT_LENGTH;

use crate::fair::Room;
use crate::invoice_files::{FilesError, InvoiceFiles, MediaType, QuotaClaim, Spool, Spooled};

use super::body::{self, BodyReader};
use super::error::ApiError;
use super::json::Json;
use super::messages;
use super::multipart::{self, BODY_LIMIT_BYTES, Boundary, FilePart, FileSink, Form, FormFlaw};
use super::problem::{Defect, Problem};

/// Contract, "Invoice file rules".
const FILE_NAME_LIMIT_CHARACTERS: usize = 255;
const FORM: &str = "multipart/form-data";
/// The message for an unsupported content type.
const CONTENT_TYPES: &str =
    "Content-Type deve ser application/json, em UTF-8, ou multipart/form-data.";
/// Seconds after which an upload that found no room may be retried.
const RETRY_UPLOAD_SECONDS: u32 = 5;
/// Room for an upload is reserved in steps of this size.
const ROOM_STEP_BYTES: u64 = 256 * 1024;

/// The content of a create.
pub(super) struct Received {
    /// Its fields, as the equivalent JSON body.
    pub(super) tree: Json,
    /// Its file, if there is one.
    pub(super) file: Option<Upload>,
}

/// A file that arrived in full and is not checked yet.
pub(super) struct Upload {
    name: String,
    /// The content, unless the part's headers were refused.
    content: Result<(MediaType, Arc<Spooled>), ErrorCode>,
    /// Whether it is stored; an operation may name it then.
    is_kept: AtomicBool,
    /// Released when the file is stored or refused.
    _room: Option<Room>,
}

/// Reads the body of a create. A file is received within the bounds of all uploads together;
/// creates without a form never wait for that.
pub(super) async fn receive(req: &mut Request, files: &InvoiceFiles) -> Result<Received, ApiError> {
    let content_type = body::content_type(req);
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case(FORM) {
        let tree = body::json_or(req, CONTENT_TYPES).await?;
        return Ok(Received { tree, file: None });
    }
    body::check_encoding(req)?;
    let boundary = Boundary::of(&content_type)?;
    if content_length(req).is_some_and(|length| length > BODY_LIMIT_BYTES) {
        return Err(ApiError::new(ErrorCode::FileTooLarge));
    }
    let mut room = UploadRoom::new(files);
    let mut intake = Intake { files, file: None };
    let form = body::in_time(read(req, boundary, &mut intake, &mut room)).await?;
    let content = intake.finish().await?;
    let file = form
        .file
        .as_ref()
        .zip(content)
        .map(|(part, content)| Upload {
            name: part.name.clone(),
            content,
            is_kept: AtomicBool::new(false),
            _room: room.held,
        });
    let tree = tree(&form)?;
    Ok(Received { tree, file })
}

/// Reads the form. Room for the body is reserved as the body arrives; while there is none, reading
/// pauses.
async fn read(
    req: &mut Request,
    boundary: Boundary,
    intake: &mut Intake<'_>,
    room: &mut UploadRoom<'_>,
) -> Result<Form, ApiError> {
    let refusal = Mutex::new(None);
    let state = (BodyReader::new(req), room);
    let data = stream::try_unfold(state, async |(mut body, room)| {
        let piece = async {
            let piece = body.next().await?;
            if let Some(bytes) = &piece {
                room.take(bytes.len()).await?;
            }
            Ok(piece)
        };
        match piece.await {
            Ok(piece) => Ok(piece.map(|bytes| (bytes, (body, room)))),
            Err(error) => {
                *refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                Err(Stopped)
            }
        }
    });
    let form = multipart::read(Box::pin(data), boundary, intake).await;
    match refusal.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(refusal) => Err(refusal),
        None => Ok(form?),
    }
}

/// The reading of a body was stopped; the reason is stored beside it.
#[derive(Debug)]
struct Stopped;

/// The part of the common room for uploads that one upload holds.
struct UploadRoom<'a> {
    files: &'a InvoiceFiles,
    held: Option<Room>,
    /// Bytes that are reserved and not used yet.
    left: u64,
}

impl<'a> UploadRoom<'a> {
    const fn new(files: &'a InvoiceFiles) -> Self {
        Self {
            files,
            held: None,
            left: 0,
        }
    }

    /// Reserves room for the bytes that have arrived.
    async fn take(&mut self, bytes: usize) -> Result<(), ApiError> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        if let Some(missing) = bytes.checked_sub(self.left).filter(|missing| *missing > 0) {
            let step = missing.max(ROOM_STEP_BYTES);
            let more = self.files.reserve(step).await;
            let more =
                more.map_err(|busy| ApiError::unavailable(busy).retry_after(RETRY_UPLOAD_SECONDS))?;
            match &mut self.held {
                Some(held) => held.add(more),
                None => self.held = Some(more),
            }
            self.left = self.left.saturating_add(step);
        }
        self.left = self.left.saturating_sub(bytes);
        Ok(())
    }
}

fn content_length(req: &Request) -> Option<u64> {
    let value = req.headers().get(CONTENT_LENGTH)?;
    value.to_str().ok()?.parse().ok()
}

/// The form as the equivalent JSON body; reports every problem of every part.
fn tree(form: &Form) -> Result<Json, Vec<Problem>> {
    let mut members = Vec::new();
    let mut problems = Vec::new();
    for (name, text) in [("supplier", &form.supplier), ("invoice", &form.invoice)] {
        match text.as_ref().map(|text| Json::parse_part(name, text)) {
            Some(Ok(value)) => members.push((name.to_owned(), value)),
            Some(Err(found)) => problems.extend(found),
            None => {}
        }
    }
    let name = "externalReference";
    match form.external_reference.clone().map(String::from_utf8) {
        Some(Ok(text)) => members.push((name.to_owned(), Json::Text(text))),
        Some(Err(_)) => problems.push(Problem::new(name, Defect::NotUtf8)),
        None => {}
    }
    if problems.is_empty() {
        Ok(Json::Object(members))
    } else {
        Err(problems)
    }
}

impl Upload {
    /// The file's name, as its sender gave it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Checks the file (contract, "Invoice file rules") and returns its description.
    pub(super) async fn validate(&self, files: &InvoiceFiles) -> Result<InvoiceFile, ApiError> {
        let (media_type, file) = self.content.as_ref().map_err(|code| ApiError::new(*code))?;
        if let Err(unlike) = files.validate(Arc::clone(file), *media_type).await? {
            tracing::debug!(target: "request", %unlike, "file refused");
            return Err(ApiError::new(ErrorCode::InvalidFileType));
        }
        Ok(InvoiceFile {
            name: self.name.clone(),
            media_type: media_type.as_str().to_owned(),
            size: file.size(),
            sha256: *file.hash().as_bytes(),
        })
    }

    /// Stores the file, so that an operation may name it, and returns whether this call did: further ones do nothing.
    async fn keep(&self, files: &InvoiceFiles) -> Result<bool, FilesError> {
        let Ok((_, file)) = &self.content else {
            return Ok(false);
        };
        let is_new = !self.is_kept.load(Ordering::Relaxed);
        if is_new {
            files.keep(file).await?;
            self.is_kept.store(true, Ordering::Relaxed);
        }
        Ok(is_new)
    }
}

/// A file that is stored once every other check of its offer has passed.
pub(super) struct Keeping<'a> {
    files: &'a InvoiceFiles,
    upload: &'a Upload,
    head_office: CompanyId,
    /// Holds the file's part of the quota until the offer is committed.
    claim: tokio::sync::Mutex<Option<QuotaClaim>>,
}

impl<'a> Keeping<'a> {
    pub(super) fn new(files: &'a InvoiceFiles, upload: &'a Upload, head_office: CompanyId) -> Self {
        Self {
            files,
            upload,
            head_office,
            claim: tokio::sync::Mutex::default(),
        }
    }

    /// Stores the file, and returns whether this call did.
    pub(super) async fn keep(&self) -> Result<bool, FilesError> {
        let mut claim = self.claim.lock().await;
        if claim.is_none() {
            let size = self
                .upload
                .content
                .as_ref()
                .map_or(0, |(_, file)| file.size());
            *claim = self.files.claim_quota(self.head_office, size).await?;
        }
        self.upload.keep(self.files).await
    }
}

/// Receives the file while its form is read.
struct Intake<'a> {
    files: &'a InvoiceFiles,
    file: Option<Result<(MediaType, Spool), ErrorCode>>,
}

#[async_trait]
impl FileSink for Intake<'_> {
    async fn begin(&mut self, file: &FilePart) -> io::Result<()> {
        self.file = Some(match check_head(file) {
            Ok(media_type) => Ok((media_type, self.files.spool().await?)),
            // The size is checked before this code is returned.
            Err(code) => Err(code),
        });
        Ok(())
    }

    async fn write(&mut self, bytes: Bytes) -> io::Result<()> {
        match &mut self.file {
            Some(Ok((_, spool))) => spool.write(&bytes).await,
            Some(Err(_)) | None => Ok(()),
        }
    }
}

impl Intake<'_> {
    async fn finish(
        self,
    ) -> Result<Option<Result<(MediaType, Arc<Spooled>), ErrorCode>>, FilesError> {
        Ok(match self.file {
            Some(Ok((media_type, spool))) => {
                let spooled = spool.finish().await.map_err(FilesError::Spool)?;
                Some(Ok((media_type, Arc::new(spooled))))
            }
            Some(Err(code)) => Some(Err(code)),
            None => None,
        })
    }
}

/// The checks of a file that need only the part's headers.
fn check_head(file: &FilePart) -> Result<MediaType, ErrorCode> {
    if file.name.chars().count() > FILE_NAME_LIMIT_CHARACTERS {
        return Err(ErrorCode::InvoiceFileNameTooLong);
    }
    let declared = file.declared_type.as_deref().unwrap_or_default();
    declared.parse().map_err(|_| ErrorCode::InvoiceFileType)
}

impl From<FormFlaw> for ApiError {
    fn from(flaw: FormFlaw) -> Self {
        let code = match &flaw {
            FormFlaw::FileTooLarge => ErrorCode::FileTooLarge,
            FormFlaw::TextsTooLarge => ErrorCode::PayloadTooLarge,
            FormFlaw::Sink(_) => return Self::internal(flaw),
            _ => ErrorCode::BadRequest,
        };
        match messages::form_flaw(&flaw) {
            Some(sentence) => Self::new(code).message(sentence),
            None => Self::new(code),
        }
    }
}

impl From<FilesError> for ApiError {
    fn from(error: FilesError) -> Self {
        match error {
            FilesError::Spool(_) | FilesError::Place(_) | FilesError::Lost(_) => {
                Self::internal(error)
            }
            FilesError::QuotaExceeded => Self::new(ErrorCode::FileQuotaExceeded),
            FilesError::TimedOut
            | FilesError::Queue(_)
            | FilesError::BeingRemoved(_)
            | FilesError::Ledger(_) => Self::unavailable(error),
        }
    }
}
