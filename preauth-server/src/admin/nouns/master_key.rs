//! `master-key`: the keys that encrypt signing secrets.

use clap::Subcommand;

use crate::admin::Failure;
use crate::admin::call::Call;
use crate::admin::output::{Field, Section, Shown as _, View, table, yes_or_no};
use crate::admin::session::Session;
use crate::http::platform::master_keys::{MasterKeyShape, MasterKeysShape, ReencryptedShape};
use crate::labels;

use super::Run;

/// Commands on master keys.
#[derive(Debug, Subcommand)]
pub(crate) enum MasterKeyCommand {
    /// Show which keys the server knows, and how many signing secrets each encrypts.
    #[command(after_help = "Example:\n  preauth-server master-key show")]
    Show,
    /// Encrypt every signing secret anew under the active key, the first of the server's file. The
    /// servers go on meanwhile; after an interruption, or when some were locked, do it again.
    #[command(after_help = "Example:\n  preauth-server master-key reencrypt")]
    Reencrypt,
}

const KEYS: View<MasterKeysShape> = View {
    fields: &[
        Field::new(labels::ACTIVE_KEY, |it| it.active.cell()),
        Field::new(labels::UNREADABLE, |it| it.unreadable.cell()),
    ],
    sections: &[Section::Table {
        title: labels::KEYS,
        table: |it, screen| table(COLUMNS, &it.keys, screen),
    }],
};

const COLUMNS: &[Field<MasterKeyShape>] = &[
    Field::new(labels::ID, |it| it.id.cell().whole()),
    Field::new(labels::KNOWN, |it| yes_or_no(it.known)),
    Field::new(labels::SECRETS, |it| it.secrets.cell()),
];

const REENCRYPTED: View<ReencryptedShape> = View::of(&[
    Field::new(labels::REENCRYPTED, |it| it.reencrypted.cell()),
    Field::new(labels::UNOPENED, |it| it.unopened.cell()),
    Field::new(labels::HELD_SECRETS, |it| it.held.cell()),
]);

impl Run for MasterKeyCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Show => session.show(Call::get("master-keys"), &KEYS).await,
            Self::Reencrypt => {
                let call = Call::post("master-keys/reencrypt");
                session.show(call, &REENCRYPTED).await
            }
        }
    }
}
