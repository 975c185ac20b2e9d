//! GET /operations/{id}/invoice-file: the file that came with the offer, byte for byte.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use preauth_core::ErrorCode;
use preauth_core::value::is_hidden;
use salvo::async_trait;
use salvo::http::Request;

use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::document::Content;
use crate::http::openapi::listed::Listed;
use crate::http::openapi::schema::Schema;
use crate::http::platform::endpoint::{Endpoint, existing};
use crate::http::platform::sections::{OPERATION, OPERATIONS};
use crate::http::platform::{PlatformApi, lookup};
use crate::http::reply::Reply;
use crate::invoice_files::ContentHash;

/// The characters that RFC 8187 leaves unescaped.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct InvoiceFile;

#[async_trait]
impl Endpoint for InvoiceFile {
    fn document(&self, operation: Described) -> Described {
        let types = ["application/pdf", "application/xml", "text/xml"];
        let file = Content::new(Schema::binary("The file.", "%PDF-1.7"));
        let file = types.map(|media_type| (media_type, file.clone()));
        operation
            .titled(
                OPERATIONS,
                "getInvoiceFile",
                "Get the file that came with an offer, byte for byte",
            )
            .number(OPERATION, ErrorCode::AnticipationNotFound)
            .note("It comes as an attachment, in the type that was declared. Its author is unknown to the platform: open it with care.")
            .answers_content(200, "The file.", Listed::from_iter(file))
            .refuses(&[ErrorCode::ResourceNotFound])
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let operation = lookup::operation(api, req).await?;
        let file = api.directory.invoice_file(operation.id).await?;
        let file = existing(file)?;
        let hash = ContentHash::from_bytes(file.sha256);
        let content = api.files.read(hash, file.size).await?;
        let digest = format!("sha-256=:{}:", STANDARD.encode(file.sha256));
        // The file comes from an untrusted sender: browsers must save it, not show it, and must not
        // guess another type.
        Ok(Reply::file(content.stream)
            .header("content-type", &file.media_type)
            .header("content-length", &content.size.to_string())
            .header("content-disposition", &attachment(&file.name))
            .header("x-content-type-options", "nosniff")
            .header("content-security-policy", "default-src 'none'; sandbox")
            .header("cache-control", "private, no-store")
            .header("repr-digest", &digest))
    }
}

/// An attachment under the file's name: in ASCII for old programs, and exactly. Characters that
/// could change the folder or the visible extension are replaced.
fn attachment(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| match c {
            '/' | '\\' => '_',
            c if is_hidden(c) => '_',
            c => c,
        })
        .collect();
    let plain: String = name
        .chars()
        .map(|c| match c {
            '"' | '%' => '_',
            ' '..='~' => c,
            _ => '_',
        })
        .collect();
    let exact = utf8_percent_encode(&name, ENCODED);
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{exact}")
}

#[cfg(test)]
mod tests {
    use super::attachment;

    #[test]
    fn an_attachment_name_cannot_leave_its_folder() {
        assert_eq!(
            attachment("nota.pdf"),
            "attachment; filename=\"nota.pdf\"; filename*=UTF-8''nota.pdf"
        );
        assert_eq!(
            attachment("../não \"1\"%41.pdf"),
            "attachment; filename=\".._n_o _1__41.pdf\"; filename*=UTF-8''.._n%C3%A3o%20%221%22%2541.pdf"
        );
        assert_eq!(
            attachment("nota\u{202e}fdp.exe"),
            "attachment; filename=\"nota_fdp.exe\"; filename*=UTF-8''nota_fdp.exe"
        );
        assert_eq!(
            attachment(r"C:\a\b.pdf"),
            "attachment; filename=\"C:_a_b.pdf\"; filename*=UTF-8''C%3A_a_b.pdf"
        );
    }
}
