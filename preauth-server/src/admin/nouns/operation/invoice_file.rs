//! The invoice file of an operation, saved to a given path.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use preauth_core::value::OperationId;
use sha2::{Digest, Sha256};

use crate::admin::Failure;
use crate::admin::call::Call;
use crate::admin::output::{Field, Shown as _, View};
use crate::admin::session::Session;
use crate::files;
use crate::http::platform::operations::{FileShape, OperationDetails};
use crate::invoice_files::ContentHash;
use crate::labels;

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

const SAVED: View<FileShape> = View::of(&[
    Field::new(labels::SENT_AS, |it| it.name.cell()),
    Field::new(labels::TYPE, |it| it.media_type.cell()),
    Field::new(labels::BYTES, |it| it.size.cell()),
    Field::new(labels::SHA_256, |it| it.sha256.cell()),
]);

impl SaveFile {
    /// Saves the file whole or not at all.
    pub(super) async fn run(&self, session: &Session) -> Result<(), Failure> {
        let Self { operation, output } = self;
        if output.symlink_metadata().is_ok() {
            return Err(taken(output));
        }
        let record = session.ask(Call::get(format!("operations/{operation}")));
        let OperationDetails { invoice_file, .. } = record.await?;
        let described = invoice_file.ok_or(Failure::NoFile(*operation))?;
        let file = Call::get(format!("operations/{operation}/invoice-file"));
        let content = session.download(file).await?;
        validate(&content, &described)?;
        files::write_private(output, &content).map_err(|cause| match cause.kind() {
            ErrorKind::AlreadyExists => taken(output),
            _ => Failure::NotSaved {
                path: output.clone(),
                cause,
            },
        })?;
        session.show_part(&described, &SAVED)
    }
}

/// Fails unless the content is that of the file sent with the offer.
fn validate(content: &[u8], described: &FileShape) -> Result<(), Failure> {
    let arrived = ContentHash::from_bytes(Sha256::digest(content).into()).to_string();
    if described.sha256 == arrived {
        return Ok(());
    }
    Err(Failure::Damaged)
}

fn taken(path: &Path) -> Failure {
    Failure::Taken(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{FileShape, validate};

    #[test]
    fn only_what_was_sent_is_saved() {
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let sent = FileShape {
            name: "nota.pdf".to_owned(),
            media_type: "application/pdf".to_owned(),
            size: 3,
            sha256: hash.to_owned(),
        };
        assert!(validate(b"abc", &sent).is_ok());
        assert!(validate(b"abd", &sent).is_err());
    }
}
