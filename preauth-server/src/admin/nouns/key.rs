//! `key`: API keys of the integration API.

use std::io::{self, Read};

use clap::Subcommand;
use preauth_core::access::DEFAULT_VALIDITY_DAYS;
use preauth_core::value::{ApiKeyId, KeyName, Scope};
use secrecy::{ExposeSecret, SecretString};

use crate::access::KeyFragment;
use crate::admin::Failure;
use crate::admin::arguments::among;
use crate::admin::call::Call;
use crate::admin::company_ref::CompanyRef;
use crate::admin::once::Once;
use crate::admin::output::{Field, Section, Shown as _, View};
use crate::admin::paging::Paging;
use crate::admin::session::Session;
use crate::admin::user_ref::UserRef;
use crate::http::platform::api_keys::{
    ApiKeyShape, Found, FoundKey, KeyRequest, KeySearch, NewApiKeyShape,
};
use crate::labels;
use crate::language::{Text, texts};
use crate::printable::printable;

use super::Run;

/// Maximum size of a text in which a key is searched.
const MAX_LEAKED_BYTES: u64 = 64 * 1024;

/// Commands on API keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make a key, which is shown this once.
    #[command(
        after_help = "Example:\n  preauth-server key create 45.723.001/0001-00 --name ERP \
                            --user ana@azul.example.com \
                            --scope preauth:read,preauth:write --validity-days 180"
    )]
    Create {
        /// Id or CNPJ of the company.
        #[arg(value_parser = CompanyRef::parse)]
        company: CompanyRef,
        /// The key's name.
        #[arg(long, value_parser = KeyName::parse)]
        name: KeyName,
        /// Id or e-mail address of the user in whose name it acts.
        #[arg(long, value_parser = UserRef::parse)]
        user: UserRef,
        /// Scope; may be repeated.
        #[arg(long, required = true, value_delimiter = ',', value_parser = among(Scope::OFFERED))]
        scope: Vec<Scope>,
        /// For how long it is valid: 30, 90, 180 or 365 days.
        #[arg(long, value_name = "DAYS", default_value_t = DEFAULT_VALIDITY_DAYS)]
        validity_days: u16,
        #[command(flatten)]
        once: Once,
    },
    /// List the keys of a company, the newest first.
    #[command(after_help = "Example:\n  preauth-server key list 45.723.001/0001-00")]
    List {
        /// Id or CNPJ of the company.
        #[arg(value_parser = CompanyRef::parse)]
        company: CompanyRef,
        #[command(flatten)]
        paging: Paging,
    },
    /// Show a key, without what only its making showed.
    #[command(after_help = "Example:\n  preauth-server key show \
                            01a1fe3a-25a3-7ffb-8504-107e7be706e3")]
    Show {
        /// Id of the key.
        #[arg(value_parser = ApiKeyId::parse)]
        key: ApiKeyId,
    },
    /// Find a leaked key, in all companies. The text is not stored.
    #[command(after_help = "Example:\n  preauth-server key find service_sk_fc1e")]
    Find {
        /// The key, how it begins, or a text that holds it. Without it a line of standard input is
        /// read: a whole key does not belong in the shell's history.
        text: Option<SecretString>,
    },
    /// Refuse a key from now on, for good. Asks for confirmation.
    #[command(after_help = "Example:\n  preauth-server key revoke \
                            01a1fe3a-25a3-7ffb-8504-107e7be706e3 --yes")]
    Revoke {
        /// Id of the key.
        #[arg(value_parser = ApiKeyId::parse)]
        key: ApiKeyId,
    },
}

const KEY: View<NewApiKeyShape> = View {
    fields: &[
        Field::new(labels::ID, |it| it.shown.id.cell()),
        Field::new(labels::COMPANY, |it| it.shown.company_id.cell()),
        Field::new(labels::NAME, |it| it.shown.name.cell()),
        Field::new(labels::BEGINS_WITH, |it| it.shown.prefix.cell()),
        Field::new(labels::STATE, |it| it.shown.state.cell()),
        Field::new(labels::SCOPES, |it| it.shown.scopes.cell()),
        Field::new(labels::USER, |it| it.shown.responsible_user_id.cell()),
        Field::new(labels::CREATED, |it| it.shown.created_at.cell()),
        Field::new(labels::EXPIRES, |it| it.shown.expires_at.cell()),
        Field::new(labels::REVOKED, |it| it.shown.revoked_at.cell()),
        Field::new(labels::LAST_USED, |it| it.shown.last_used_at.cell()),
    ],
    sections: &[Section::Secret {
        warning: Text::new(
            "The key is shown this once; keep it now, nothing can show it again:",
            "A chave aparece só desta vez; guarde-a agora, não há como exibi-la de novo:",
        ),
        secret: |it| it.key.as_ref(),
    }],
};

const COLUMNS: &[Field<ApiKeyShape>] = &[
    Field::new(labels::ID, |it| it.id.cell()),
    Field::new(labels::NAME, |it| it.name.cell()),
    Field::new(labels::BEGINS_WITH, |it| it.prefix.cell().whole()),
    Field::new(labels::STATE, |it| it.state.cell()),
    Field::new(labels::EXPIRES, |it| it.expires_at.cell()),
    Field::new(labels::LAST_USED, |it| it.last_used_at.cell()),
    Field::new(labels::SCOPES, |it| it.scopes.cell()),
];

const FOUND: &[Field<FoundKey>] = &[
    Field::new(labels::ID, |it| it.key.id.cell()),
    Field::new(labels::BEGINS_WITH, |it| it.key.prefix.cell().whole()),
    Field::new(labels::STATE, |it| it.key.state.cell()),
    Field::new(labels::LAST_USED, |it| it.key.last_used_at.cell()),
    Field::new(labels::CNPJ, |it| it.company.cnpj.cell()),
    Field::new(labels::COMPANY, |it| it.company.name.cell()),
    Field::new(labels::NAME, |it| it.key.name.cell()),
];

const WITHOUT_CLEAR_TEXT: Text = Text::new(
    "this key was made before, and its clear text was in the first answer only; if that was lost, \
     revoke it and create another with another --idempotency-key",
    "esta chave já tinha sido criada, e o texto dela veio só na primeira resposta; se ele se perdeu, \
     revogue-a e crie outra com outra --idempotency-key",
);
const MORE: Text = Text::new(
    "there are more; a longer beginning finds fewer",
    "há mais chaves; um início mais longo encontra menos",
);
const REVOKED: Text = Text::new("the key is revoked", "a chave foi revogada");

texts! {
    revoke(name: &str, prefix: &str) {
        en: "Revoke key {name:?} ({prefix}...)? It is refused from then on.",
        pt: "Revogar a chave {name:?} ({prefix}...)? A partir daí ela é recusada.",
    }
}

/// The given text, or a line of standard input.
fn leaked(text: Option<SecretString>) -> Result<SecretString, Failure> {
    let text = match text {
        Some(text) => text,
        None => SecretString::from(io::read_to_string(
            io::stdin().lock().take(MAX_LEAKED_BYTES),
        )?),
    };
    // Checked here, so that a mistyped text is not sent.
    KeyFragment::cut(text.expose_secret()).map_err(|_| Failure::NotAKey)?;
    Ok(text)
}

/// The next step when the answer with a key's clear text was lost.
fn without_clear_text(made: &NewApiKeyShape) -> Option<Text> {
    made.key.is_none().then_some(WITHOUT_CLEAR_TEXT)
}

fn found(found: Found) -> (Vec<FoundKey>, Option<Text>) {
    (found.data, found.has_more.then_some(MORE))
}

impl Run for KeyCommand {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Create {
                company,
                name,
                user,
                scope,
                validity_days,
                once,
            } => {
                let company = session.company(&company).await?;
                let user = session.user(company, &user).await?;
                let body = KeyRequest {
                    name,
                    responsible_user_id: user,
                    scopes: scope.into_iter().collect(),
                    validity_days: Some(validity_days),
                };
                let call = once
                    .post(format!("companies/{company}/api-keys"))
                    .body(body);
                session.show_with_note(call, &KEY, without_clear_text).await
            }
            Self::List { company, paging } => {
                let company = session.company(&company).await?;
                let call = Call::get(format!("companies/{company}/api-keys"));
                session.list(call, &paging, COLUMNS).await
            }
            Self::Show { key } => {
                session
                    .show(Call::get(format!("api-keys/{key}")), &KEY)
                    .await
            }
            Self::Find { text } => {
                let text = leaked(text)?;
                let body = KeySearch {
                    text: text.expose_secret().to_owned(),
                };
                let call = Call::post("api-key-search").body(body);
                session.show_found(call, FOUND, found).await
            }
            Self::Revoke { key } => {
                let path = format!("api-keys/{key}");
                let question = |language, key: &ApiKeyShape| {
                    let prefix = printable(&key.prefix);
                    revoke(language, &printable(key.name.as_str()), &prefix)
                };
                session.confirm(Call::get(&*path), question).await?;
                session.end(Call::delete(path), REVOKED).await
            }
        }
    }
}
