//! The invoice file of an operation, saved to a given path.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use preauth_core::value::OperationId;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::admin::Failure;
use crate::admin::call::Call;
use crate::admin::output::{Field, View};
use crate::admin::session::Session;
use crate::files;
use crate::invoice_files::ContentHash;

/// Which file, and where to.
#[derive(Debug, Args)]
pub(crate) struct SaveFile {
    /// Id of the operation.
    #[arg(value_parser = OperationId::parse)]
    operation: OperationId,
    /// A file that is not there yet; only you may read it. The name that the sender gave it is shown,
    /// and never used.
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
}

const SAVED: View = View::of(&[
    Field::text("sent as", "/name"),
    Field::whole("type", "/mediaType"),
    Field::whole("bytes", "/size"),
    Field::whole("SHA-256", "/sha256"),
]);

impl SaveFile {
    /// Saves the file whole or not at all.
    pub(super) async fn run(&self, session: &Session) -> Result<(), Failure> {
        let Self { operation, output } = self;
        if output.symlink_metadata().is_ok() {
            return Err(taken(output));
        }
        let record = session.ask(Call::get(format!("operations/{operation}")));
        let record = record.await?;
        let described = record.pointer("/invoiceFile").unwrap_or(&Value::Null);
        if described.is_null() {
            return Err(Failure::NoFile(*operation));
        }
        let file = Call::get(format!("operations/{operation}/invoice-file"));
        let content = session.download(file).await?;
        validate(&content, described)?;
        files::write_private(output, &content).map_err(|cause| match cause.kind() {
            ErrorKind::AlreadyExists => taken(output),
            _ => Failure::NotSaved {
                path: output.clone(),
                cause,
            },
        })?;
        session.show_part(described, &SAVED)
    }
}

/// Fails unless the content is that of the file sent with the offer.
fn validate(content: &[u8], described: &Value) -> Result<(), Failure> {
    let arrived = ContentHash::from_bytes(Sha256::digest(content).into()).to_string();
    let sent = described.pointer("/sha256").and_then(Value::as_str);
    if sent == Some(arrived.as_str()) {
        return Ok(());
    }
    Err(Failure::Damaged)
}

fn taken(path: &Path) -> Failure {
    Failure::Usage(format!(
        "{} is there already, and nothing is overwritten; give another --output",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::validate;

    #[test]
    fn only_what_was_sent_is_saved() {
        let sent = json!({
            "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        });
        assert!(validate(b"abc", &sent).is_ok());
        assert!(validate(b"abd", &sent).is_err());
        assert!(validate(b"", &Value::Null).is_err());
    }
}
