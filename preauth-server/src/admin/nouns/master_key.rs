//! `master-key`: the keys that encrypt signing secrets.

use clap::Subcommand;

use crate::admin::Failure;
use crate::admin::call::Call;
use crate::admin::output::{Field, Section, View};
use crate::admin::session::Session;

use super::Run;

/// Commands on master keys.
#[derive(Debug, Subcommand)]
pub(crate) enum MasterKeyCommand {
    /// Show which keys the server knows, and how many signing secrets each encrypts.
    #[command(after_help = "Example:\n  preauth-server master-key show")]
    Show,
    /// Encrypt every signing secret anew under the active key, the first of the server's file. The
    /// servers go on meanwhile; after an interruption, do it again.
    #[command(after_help = "Example:\n  preauth-server master-key reencrypt")]
    Reencrypt,
}

const KEYS: View = View {
    fields: &[
        Field::whole("active", "/active"),
        Field::whole("unreadable secrets", "/unreadable"),
    ],
    sections: &[Section::Table {
        title: "Keys",
        pointer: "/keys",
        columns: &[
            Field::whole("id", "/id"),
            Field::text("known here", "/known"),
            Field::whole("secrets", "/secrets"),
        ],
    }],
};

const REENCRYPTED: View = View::of(&[
    Field::whole("secrets encrypted anew", "/reencrypted"),
    Field::whole("secrets that no key opens", "/unopened"),
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
