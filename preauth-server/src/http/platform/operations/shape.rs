//! An operation as the platform shows it: the resource of the integration API and fields for the
//! platform alone.

use preauth_core::operation::{Actor, Closing, InvoiceFile, Operation, State};
use preauth_core::port::HistoryEntry;
use preauth_core::value::Stage;
use preauth_core::wire;
use serde::Serialize;

use crate::directory::OperationExtension;
use crate::http::convert;
use crate::http::platform::extensions::ExtensionShape;
use crate::http::platform::party::PartyShape;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OperationShape {
    id: i64,
    version: i64,
    status: &'static str,
    origin: &'static str,
    external_reference: Option<String>,
    payer: PartyShape,
    supplier: PartyShape,
    invoice: wire::Invoice,
    net_amount: Option<wire::Amount>,
    reason: Option<String>,
    stage: Option<&'static str>,
    /// Set while the boleto is issued: its due date.
    boleto_due_date: Option<String>,
    /// Set while the boleto is issued: its open extension.
    extension: Option<wire::ExtensionData>,
    expires_at: Option<String>,
    created_at: String,
    #[serde(flatten)]
    details: Option<DetailsShape>,
}

/// Fields of the answer about one operation.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DetailsShape {
    /// Newest first, the open one included.
    extensions: Vec<ExtensionShape>,
    /// Null when the offer came without a file.
    invoice_file: Option<FileShape>,
    /// Oldest first.
    history: Vec<HistoryShape>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FileShape {
    name: String,
    media_type: String,
    size: u64,
    /// Of the content, in hexadecimal.
    sha256: String,
}

#[derive(Debug, Serialize)]
struct HistoryShape {
    id: String,
    #[serde(rename = "type")]
    event_type: &'static str,
    at: String,
    version: i64,
    actor: ActorShape,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ActorShape {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
}

impl OperationShape {
    /// Adds the fields of the answer about one operation.
    pub(super) fn with_details(
        self,
        extensions: &[OperationExtension],
        file: Option<&InvoiceFile>,
        history: &[HistoryEntry],
    ) -> Self {
        let details = DetailsShape {
            extensions: extensions.iter().map(Into::into).collect(),
            invoice_file: file.map(Into::into),
            history: history.iter().map(Into::into).collect(),
        };
        Self {
            details: Some(details),
            ..self
        }
    }
}

impl From<&Operation> for OperationShape {
    fn from(operation: &Operation) -> Self {
        let resource = convert::pre_authorization(operation);
        let closing = operation.closing();
        let stage = closing.and_then(Closing::stage);
        let (boleto_due_date, extension) = match &operation.state {
            State::ToReceive {
                boleto_due_date,
                extension,
            } => (
                Some(boleto_due_date.to_string()),
                extension.as_ref().map(convert::extension),
            ),
            State::InPreAuth
            | State::InVerification
            | State::ToApprove
            | State::InAnalysis
            | State::ToPay
            | State::ToBill
            | State::Concluded
            | State::Reproved(_) => (None, None),
        };
        Self {
            id: operation.id.get(),
            version: operation.version.get(),
            status: operation.status().as_str(),
            origin: operation.origin.as_str(),
            external_reference: resource.external_reference,
            payer: (&operation.payer).into(),
            supplier: (&operation.supplier).into(),
            invoice: resource.invoice,
            net_amount: operation.net_amount.map(Into::into),
            reason: closing.map(|closing| closing.reason().to_owned()),
            stage: stage.map(Stage::as_str),
            boleto_due_date,
            extension,
            expires_at: operation.expires_at.map(|at| at.to_string()),
            created_at: operation.created_at.to_string(),
            details: None,
        }
    }
}

impl From<&InvoiceFile> for FileShape {
    fn from(file: &InvoiceFile) -> Self {
        Self {
            name: file.name.clone(),
            media_type: file.media_type.clone(),
            size: file.size,
            sha256: hex::encode(file.sha256),
        }
    }
}

impl From<&HistoryEntry> for HistoryShape {
    fn from(entry: &HistoryEntry) -> Self {
        Self {
            id: entry.id.to_string(),
            event_type: entry.event_type.as_str(),
            at: entry.at.to_string(),
            version: entry.version.get(),
            actor: entry.actor.into(),
        }
    }
}

impl From<Actor> for ActorShape {
    fn from(actor: Actor) -> Self {
        let (key, user) = match actor {
            Actor::ApiKey { key, user } => (Some(key), Some(user)),
            Actor::Company | Actor::Supplier | Actor::Platform | Actor::System => (None, None),
        };
        Self {
            kind: actor.kind().as_str(),
            api_key_id: key.map(|key| key.to_string()),
            user_id: user.map(|user| user.to_string()),
        }
    }
}
