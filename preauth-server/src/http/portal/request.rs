//! The request of the advance. An invited supplier confirms its name with it.

use preauth_core::operation::{Command, Operation, State};
use preauth_core::value::{CompanyName, SupplierName};
use salvo::async_trait;
use salvo::http::Request as HttpRequest;

use crate::directory::{DirectoryError, Invitation};
use crate::http::error::ApiError;
use crate::http::pages::form::Form;
use crate::http::reply::Reply;
use crate::secret::SupplierPage;

use super::answer::Answer;
use super::confirm::{self, Confirmation};
use super::field::Field;
use super::perform::{perform, refusal};
use super::shown::visible;
use super::visit::Visit;

const NAME: &str = "nome";

#[derive(Clone, Copy)]
pub(super) struct Request;

#[async_trait]
impl Answer for Request {
    const HAS_FORM: bool = true;

    async fn read(&self, visit: &Visit<'_>) -> Result<Reply, ApiError> {
        if !visit.is_open() {
            return Ok(visit.back());
        }
        let name = unconfirmed(visit).await?.map(|it| name_field(visit, &it));
        confirm::page(visit, &confirmation(visit, name))
    }

    async fn submit(&self, visit: &Visit<'_>, req: &mut HttpRequest) -> Result<Reply, ApiError> {
        let form = Form::read(req).await?;
        if is_requested(&visit.operation) {
            return Ok(visit.back());
        }
        if !visit.is_open() {
            return refusal(visit);
        }
        if let Some(invitation) = unconfirmed(visit).await? {
            let typed = form.one(NAME).unwrap_or_default();
            match SupplierName::parse(typed) {
                Ok(name) => confirm_name(visit, &CompanyName::from(&name)).await?,
                Err(error) => {
                    let field = name_field(visit, &invitation);
                    let field = field.refused(typed, error, visit.frame.words);
                    return confirm::page(visit, &confirmation(visit, Some(field)));
                }
            }
        }
        perform(visit, &Command::Request, is_requested).await
    }
}

/// Whether the supplier has requested the advance, whatever became of it.
fn is_requested(operation: &Operation) -> bool {
    matches!(
        operation.state,
        State::ToApprove
            | State::InAnalysis
            | State::ToPay
            | State::ToBill
            | State::ToReceive { .. }
            | State::Concluded
    )
}

/// The invitation whose name the supplier has not confirmed.
async fn unconfirmed(visit: &Visit<'_>) -> Result<Option<Invitation>, ApiError> {
    let (supplier, payer) = (&visit.operation.supplier, &visit.operation.payer);
    let directory = &visit.api.directory;
    let found = directory
        .invitation(supplier.company, payer.head_office)
        .await?;
    Ok(found.filter(|invitation| invitation.confirmed_at.is_none()))
}

/// Fixes the name for the head office that invited. Another tab may have been first, and the company may
/// have been registered meanwhile: then that name stays.
async fn confirm_name(visit: &Visit<'_>, name: &CompanyName) -> Result<(), ApiError> {
    let (supplier, payer) = (&visit.operation.supplier, &visit.operation.payer);
    let confirmed = visit.api.directory.confirm_invitation(
        supplier.company,
        payer.head_office,
        name,
        visit.now,
    );
    match confirmed.await {
        Ok(()) | Err(DirectoryError::NotFound | DirectoryError::Conflict) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn confirmation(visit: &Visit<'_>, field: Option<Field>) -> Confirmation {
    let words = visit.frame.words;
    let payer = visible(visit.operation.payer.name.as_str());
    let effect = match words.t("en", "pt") {
        "en" => format!(
            "{payer} receives your request, and approves it or not. It cannot be taken back on this page."
        ),
        _ => format!(
            "{payer} recebe o seu pedido e decide se aprova. Depois de enviado, ele não pode ser desfeito nesta página."
        ),
    };
    Confirmation {
        page: SupplierPage::Request,
        heading: words.t("Request the advance?", "Solicitar a antecipação?"),
        effect,
        button: words.t("Confirm the request", "Confirmar solicitação"),
        tone: "primary",
        field,
    }
}

fn name_field(visit: &Visit<'_>, invitation: &Invitation) -> Field {
    let words = visit.frame.words;
    let payer = visible(visit.operation.payer.name.as_str());
    let hint = match words.t("en", "pt") {
        "en" => {
            format!("{payer} gave this name. Correct it if it is wrong: it is kept from here on.")
        }
        _ => format!(
            "{payer} informou este nome. Corrija-o se estiver errado: é o que fica registrado."
        ),
    };
    Field {
        name: NAME,
        label: words.t(
            "Legal name of your company",
            "Nome da sua empresa (razão social)",
        ),
        hint,
        value: visible(invitation.name.as_str()),
        max: SupplierName::MAX_CHARS,
        is_long: false,
        error: None,
    }
}
