//! The refusal of the offer, with a reason or without.

use preauth_core::operation::{Action, Command, Operation, State};
use preauth_core::value::Reason;
use salvo::async_trait;
use salvo::http::Request;

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

const REASON: &str = "motivo";

#[derive(Clone, Copy)]
pub(super) struct Decline;

#[async_trait]
impl Answer for Decline {
    const HAS_FORM: bool = true;

    async fn read(&self, visit: &Visit<'_>) -> Result<Reply, ApiError> {
        if !visit.is_open() {
            return Ok(visit.back());
        }
        confirm::page(visit, &confirmation(visit, reason_field(visit)))
    }

    async fn submit(&self, visit: &Visit<'_>, req: &mut Request) -> Result<Reply, ApiError> {
        let form = Form::read(req).await?;
        if is_declined(&visit.operation) {
            return Ok(visit.back());
        }
        if !visit.is_open() {
            return refusal(visit);
        }
        let reason = match form.one(REASON).map(on_one_line) {
            None => None,
            Some(typed) => match Reason::parse(&typed) {
                Ok(reason) => Some(reason),
                Err(error) => {
                    let field = reason_field(visit).refused(&typed, error, visit.frame.words);
                    return confirm::page(visit, &confirmation(visit, field));
                }
            },
        };
        let command = Command::Decline { reason };
        perform(visit, &command, is_declined).await
    }
}

fn is_declined(operation: &Operation) -> bool {
    matches!(&operation.state, State::Reproved(closing) if closing.action == Action::Decline)
}

/// A reason has one line; a browser sends the ones that were typed.
fn on_one_line(text: &str) -> String {
    text.replace("\r\n", " ").replace(['\r', '\n'], " ")
}

fn confirmation(visit: &Visit<'_>, field: Field) -> Confirmation {
    let words = visit.frame.words;
    let due = words.due(visit.operation.invoice.due_date);
    let effect = match words.t("en", "pt") {
        "en" => format!(
            "The offer ends, and cannot be requested any more. The invoice stays due on {due}."
        ),
        _ => format!(
            "A oferta termina e não pode mais ser solicitada. A nota continua com vencimento em {due}."
        ),
    };
    Confirmation {
        page: SupplierPage::Decline,
        heading: words.t("Decline the offer?", "Recusar a oferta?"),
        effect,
        button: words.t("Confirm", "Confirmar recusa"),
        tone: "danger",
        field: Some(field),
    }
}

fn reason_field(visit: &Visit<'_>) -> Field {
    let words = visit.frame.words;
    let payer = visible(visit.operation.payer.name.as_str());
    let hint = match words.t("en", "pt") {
        "en" => format!("{payer} reads it."),
        _ => format!("{payer} lê o que você escrever aqui."),
    };
    Field {
        name: REASON,
        label: words.t("Reason (optional)", "Motivo (opcional)"),
        hint,
        value: String::new(),
        max: Reason::MAX_CHARS,
        is_long: true,
        error: None,
    }
}
