//! Invoice files, and files that were announced before they are stored.

use preauth_core::operation::InvoiceFile;

use crate::invoice_files::ContentHash;

use super::columns::{Columns, Corrupt, count};
use super::raw::RawRow;

/// The stored description of a file, without its content.
pub(in crate::store) fn invoice_file(row: &impl RawRow) -> Result<InvoiceFile, Corrupt> {
    let columns = Columns::of("invoice_files", row);
    Ok(InvoiceFile {
        name: columns.raw("name")?,
        media_type: columns.raw("media_type")?,
        size: count(columns.raw("size_bytes")?),
        sha256: columns.bytes("sha256")?,
    })
}

/// The content hash of an announced file.
pub(in crate::store) fn content_hash(row: &impl RawRow) -> Result<ContentHash, Corrupt> {
    let hash = Columns::of("announced_files", row).bytes("sha256")?;
    Ok(ContentHash::from_bytes(hash))
}
