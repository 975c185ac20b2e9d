//! Reads the parts one by one.

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use multra::{Constraints, Field, Multipart, SizeLimit};
use salvo::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};

use super::disposition::Disposition;
use super::limited_body::{BodyError, LimitedBody};
use super::part_heads::{PartHeads, Refused};
use super::{
    BODY_LIMIT_BYTES, Boundary, FilePart, FileSink, Form, FormFlaw, PADDING_LIMIT_BYTES,
    PART_HEAD_LIMIT_BYTES, PART_LIMIT, PREAMBLE_LIMIT_BYTES, TEXT_LIMIT_BYTES,
};
use crate::invoice_files::FILE_LIMIT_BYTES;

const TRANSFER_ENCODING: &str = "content-transfer-encoding";

/// Reads a whole body. The result does not depend on how the body is split into pieces.
///
/// Text parts that a create does not know are read and ignored, like unknown fields of JSON.
pub async fn read<S, E>(
    body: S,
    boundary: Boundary,
    sink: &mut dyn FileSink,
) -> Result<Form, FormFlaw>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin + Send,
{
    let (boundary, refused) = (boundary.into_text(), Refused::new());
    let body = LimitedBody::new(body, BODY_LIMIT_BYTES);
    let mut body = PartHeads::new(body, &boundary, &refused);
    let mut reading = Reading {
        form: Form::default(),
        text_bytes_left: TEXT_LIMIT_BYTES,
        sink,
    };
    let mut parts = Multipart::with_constraints(&mut body, &*boundary, constraints());
    let mut part_number: usize = 0;
    while let Some(part) = parts.next_field().await? {
        if refused.get() == Some(&part_number) {
            return Err(FormFlaw::PartHead);
        }
        reading.take(part).await?;
        part_number = part_number.saturating_add(1);
    }
    drop(parts);
    // Clients send nothing after the last boundary; it is read nevertheless, so that the limit
    // applies to the whole body.
    while let Some(bytes) = body.next().await {
        bytes?;
    }
    match refused.get() {
        Some(_) => Err(FormFlaw::PartHead),
        None => Ok(reading.form),
    }
}

fn constraints() -> Constraints {
    let limits = SizeLimit::new()
        .preamble(PREAMBLE_LIMIT_BYTES)
        .headers(PART_HEAD_LIMIT_BYTES)
        .boundary_padding(PADDING_LIMIT_BYTES);
    Constraints::new().max_fields(PART_LIMIT).size_limit(limits)
}

struct Reading<'a> {
    form: Form,
    text_bytes_left: usize,
    sink: &'a mut dyn FileSink,
}

impl Reading<'_> {
    async fn take(&mut self, part: Field<'_>) -> Result<(), FormFlaw> {
        let disposition = part.headers().get(CONTENT_DISPOSITION);
        let disposition = disposition.ok_or(FormFlaw::Nameless)?;
        let Disposition { name, file_name } = Disposition::parse(disposition.as_bytes())?;
        if name == "invoiceFile" {
            return self.take_file(part, file_name).await;
        }
        if file_name.is_some() {
            return Err(FormFlaw::UnexpectedFile);
        }
        let known = match name.as_str() {
            "supplier" => &mut self.form.supplier,
            "invoice" => &mut self.form.invoice,
            "externalReference" => &mut self.form.external_reference,
            _ => return text(part, &mut self.text_bytes_left).await.map(drop),
        };
        if known.is_some() {
            return Err(FormFlaw::Repeated);
        }
        check_text(&part)?;
        *known = Some(text(part, &mut self.text_bytes_left).await?);
        Ok(())
    }

    async fn take_file(
        &mut self,
        mut part: Field<'_>,
        file_name: Option<String>,
    ) -> Result<(), FormFlaw> {
        let name = file_name
            .filter(|name| !name.is_empty())
            .ok_or(FormFlaw::FileName)?;
        if self.form.file.is_some() {
            return Err(FormFlaw::Repeated);
        }
        check_transfer(&part)?;
        let file = FilePart {
            name,
            declared_type: header(&part, CONTENT_TYPE.as_str()),
        };
        self.sink.begin(&file).await.map_err(FormFlaw::Sink)?;
        self.form.file = Some(file);
        let mut left = FILE_LIMIT_BYTES;
        while let Some(bytes) = part.chunk().await? {
            let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            left = left.checked_sub(length).ok_or(FormFlaw::FileTooLarge)?;
            self.sink.write(bytes).await.map_err(FormFlaw::Sink)?;
        }
        Ok(())
    }
}

/// Reads a text part within the remaining limit.
async fn text(mut part: Field<'_>, left: &mut usize) -> Result<Vec<u8>, FormFlaw> {
    let mut text = Vec::new();
    while let Some(bytes) = part.chunk().await? {
        let after = left.checked_sub(bytes.len());
        *left = after.ok_or(FormFlaw::TextsTooLarge)?;
        text.extend_from_slice(&bytes);
    }
    Ok(text)
}

/// A text must be UTF-8 of type plain text or JSON, or without a type; nothing is transcoded.
fn check_text(part: &Field<'_>) -> Result<(), FormFlaw> {
    check_transfer(part)?;
    let Some(media_type) = header(part, CONTENT_TYPE.as_str()) else {
        return Ok(());
    };
    let mut pieces = media_type.split(';').map(str::trim);
    let essence = pieces.next().unwrap_or_default();
    let is_text = ["text/plain", "application/json"]
        .iter()
        .any(|taken| taken.eq_ignore_ascii_case(essence));
    let is_utf_8 = pieces.all(|parameter| match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            let value = value.trim().trim_matches('"');
            ["utf-8", "us-ascii"]
                .iter()
                .any(|it| it.eq_ignore_ascii_case(value))
        }
        _ => true,
    });
    if is_text && is_utf_8 {
        Ok(())
    } else {
        Err(FormFlaw::PartEncoding)
    }
}

/// Encodings like base64 are refused, not decoded (RFC 7578, 4.7).
fn check_transfer(part: &Field<'_>) -> Result<(), FormFlaw> {
    let encoding = header(part, TRANSFER_ENCODING).unwrap_or_else(|| "binary".to_owned());
    let is_identity = ["7bit", "8bit", "binary"]
        .iter()
        .any(|it| it.eq_ignore_ascii_case(encoding.trim()));
    if is_identity {
        Ok(())
    } else {
        Err(FormFlaw::PartEncoding)
    }
}

fn header(part: &Field<'_>, name: &str) -> Option<String> {
    let value = part.headers().get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

impl From<BodyError> for FormFlaw {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => Self::FileTooLarge,
            BodyError::Interrupted => Self::Interrupted,
        }
    }
}

impl From<multra::Error> for FormFlaw {
    fn from(error: multra::Error) -> Self {
        match error {
            multra::Error::StreamReadFailed(cause) => match cause.downcast::<BodyError>() {
                Ok(error) => (*error).into(),
                Err(_) => Self::Interrupted,
            },
            multra::Error::FieldCountExceeded { .. } => Self::TooManyParts,
            multra::Error::HeadersSizeExceeded { .. } | multra::Error::ReadHeaderFailed(_) => {
                Self::PartHead
            }
            _ => Self::Framing,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use bytes::Bytes;
    use futures_util::stream;

    use super::super::{Boundary, Form, FormFlaw};

    const SUPPLIER: &str = "Content-Disposition: form-data; name=\"supplier\"\r\n\r\n{}";
    const INVOICE: &str = "Content-Disposition: form-data; name=\"invoice\"\r\n\r\n[]";
    const FILE: &str = "Content-Disposition: form-data; name=\"invoiceFile\"; filename=\"a.pdf\"\r\nContent-Type: application/pdf\r\n\r\n%PDF-\r\n--b\r--bound-\r\n";

    fn body(parts: &[&str]) -> String {
        let parts = parts.iter().map(|part| format!("--bound\r\n{part}\r\n"));
        format!("{}--bound--\r\n", parts.collect::<String>())
    }

    async fn read_in(pieces: Vec<Vec<u8>>) -> Result<(Form, Vec<u8>), FormFlaw> {
        let pieces = pieces
            .into_iter()
            .map(|it| Ok::<_, Infallible>(Bytes::from(it)));
        let boundary = Boundary::of("multipart/form-data; boundary=bound").unwrap();
        let mut file = Vec::new();
        let form = super::read(stream::iter(pieces), boundary, &mut file).await?;
        Ok((form, file))
    }

    async fn read(body: impl AsRef<[u8]>) -> Result<(Form, Vec<u8>), FormFlaw> {
        read_in(vec![body.as_ref().to_vec()]).await
    }

    #[tokio::test]
    async fn a_form_is_the_same_wherever_its_pieces_begin() {
        let body = format!("preamble\r\n{}epilogue", body(&[SUPPLIER, FILE, INVOICE]));
        let whole = read(&body).await.unwrap();
        assert_eq!(whole.0.supplier.as_deref(), Some(&b"{}"[..]));
        assert_eq!(whole.0.invoice.as_deref(), Some(&b"[]"[..]));
        assert_eq!(whole.0.external_reference, None);
        assert_eq!(whole.0.file.as_ref().unwrap().name, "a.pdf");
        assert_eq!(whole.1, b"%PDF-\r\n--b\r--bound-\r\n");
        for border in 0..=body.len() {
            let (head, tail) = body.as_bytes().split_at(border);
            let pieces = vec![head.to_vec(), Vec::new(), tail.to_vec()];
            assert_eq!(read_in(pieces).await.unwrap(), whole, "{border}");
        }
        let bytes = body.bytes().map(|byte| vec![byte]).collect();
        assert_eq!(read_in(bytes).await.unwrap(), whole);
    }

    #[tokio::test]
    async fn a_body_that_ends_anywhere_before_its_end_is_broken() {
        let body = body(&[SUPPLIER, FILE]);
        let end = body.len() - "\r\n".len();
        for cut in 0..end {
            let outcome = read(&body[..cut]).await;
            assert!(matches!(outcome, Err(FormFlaw::Framing)), "{cut}");
        }
        assert!(read(&body[..end]).await.is_ok());
    }

    #[tokio::test]
    async fn limits_hold_to_the_byte() {
        let text = |bytes: usize| {
            let text = SUPPLIER.replace("{}", &"x".repeat(bytes));
            body(&[&text, INVOICE])
        };
        assert!(read(text(256 * 1024 - 2)).await.is_ok());
        let over = read(text(256 * 1024 - 1)).await;
        assert!(matches!(over, Err(FormFlaw::TextsTooLarge)));
        let file = |bytes: usize| body(&[&FILE.replace("%PDF-", &"x".repeat(bytes))]);
        let around = "\r\n--b\r--bound-\r\n".len();
        let limit = 10 * 1024 * 1024 - around;
        assert!(read(file(limit)).await.is_ok());
        let over = read(file(limit + 1)).await;
        assert!(matches!(over, Err(FormFlaw::FileTooLarge)));
        let epilogue = format!("{}{}", body(&[SUPPLIER]), "x".repeat(11 * 1024 * 1024));
        assert!(matches!(read(epilogue).await, Err(FormFlaw::FileTooLarge)));
        let named = |n: usize| format!("Content-Disposition: form-data; name=\"a{n}\"\r\n\r\n");
        let many = |count: usize| {
            let parts: Vec<String> = (0..count).map(named).collect();
            body(&parts.iter().map(String::as_str).collect::<Vec<_>>())
        };
        assert!(read(many(16)).await.is_ok());
        assert!(matches!(read(many(17)).await, Err(FormFlaw::TooManyParts)));
    }

    #[tokio::test]
    async fn a_head_that_another_parser_could_read_differently_is_refused() {
        let part = |head: &str| body(&[INVOICE, &format!("{head}\r\n\r\n{{}}")]);
        let name = "Content-Disposition: form-data; name=\"supplier\"";
        let other = "Content-Disposition: form-data; name=\"other\"";
        for accepted in [
            name.to_owned(),
            format!("{name}\r\nContent-Type: text/plain\r\nX-A: 1\r\nX-A: 2"),
        ] {
            assert!(read(part(&accepted)).await.is_ok(), "{accepted}");
        }
        for refused in [
            format!("{name}\r\n{other}"),
            format!("{name}\r\n{}", other.to_uppercase()),
            format!("{name}\r\n{name}"),
            format!("{name}\r\nContent-Type: text/plain\r\ncontent-type: application/json"),
            format!(
                "Content-Transfer-Encoding: base64\r\n{name}\r\nContent-Transfer-Encoding: 8bit"
            ),
            format!("{name}\nContent-Type: text/plain"),
            format!("{name}\n\n{other}"),
            format!("{name}\r\n--bound: x"),
            format!("\r\n{name}"),
        ] {
            let whole = part(&refused);
            let bytes = whole.bytes().map(|byte| vec![byte]).collect();
            for outcome in [read(&whole).await, read_in(bytes).await] {
                assert!(matches!(outcome, Err(FormFlaw::PartHead)), "{refused:?}");
            }
        }
        // Content that some parsers take for the end of a part.
        let hidden = format!("{name}\r\n\r\n{{}}\n--bound\r\n{other}");
        assert!(matches!(read(part(&hidden)).await, Err(FormFlaw::PartHead)));
        let content = FILE.replace("%PDF-", "\n --bound\r\r\n--boun\r\nContent-Type: a\n\n");
        assert!(read(body(&[&content, SUPPLIER])).await.is_ok());
    }

    #[tokio::test]
    async fn the_head_of_a_part_has_8_kib_and_32_lines() {
        let with = |lines: String| body(&[&format!("{lines}{SUPPLIER}")]);
        assert!(
            read(with(format!("X: {}\r\n", "x".repeat(8_000))))
                .await
                .is_ok()
        );
        for lines in [
            format!("X: {}\r\n", "x".repeat(8_192)),
            format!("X: {}\r\n", "x".repeat(1024 * 1024)),
            "X: x\r\n".repeat(33),
        ] {
            assert!(matches!(read(with(lines)).await, Err(FormFlaw::PartHead)));
        }
    }
}
