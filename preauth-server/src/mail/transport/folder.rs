//! Writes mails as files that mail programs open: for tests, and until a mail server is configured.

use std::path::{Path, PathBuf};

use async_trait::async_trait;

use super::{NotTaken, Transport};
use crate::files;
use crate::mail::letterhead::OutgoingMail;

/// Writes `ID.eml` files of mode 0600 into a folder that it creates. A repeated mail overwrites its
/// file.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder of mails in a data folder.
    #[must_use]
    pub fn in_data(data: &Path) -> Self {
        Self(data.join("mails"))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    fn keep(&self, mail: &OutgoingMail) -> std::io::Result<PathBuf> {
        files::create_private_directory(&self.0)?;
        let path = self.0.join(format!("{}.eml", mail.id));
        files::replace_private(&path, &mail.bytes)?;
        Ok(path)
    }
}

#[async_trait]
impl Transport for Folder {
    async fn hand_over(&self, mail: &OutgoingMail) -> Result<String, NotTaken> {
        let (folder, mail) = (self.clone(), mail.clone());
        let kept = tokio::task::spawn_blocking(move || folder.keep(&mail)).await;
        match kept {
            Ok(Ok(path)) => Ok(path.display().to_string()),
            Ok(Err(error)) => Err(NotTaken::Nobody(
                format!("{}: {error}", self.0.display()).into(),
            )),
            Err(error) => Err(NotTaken::Nobody(error.to_string().into())),
        }
    }
}
