//! Who may call the platform API and sign in to the console.

use preauth_core::access::OperatorRole;
use salvo::http::Method;

use crate::http::console::action_form::{ActionForm, Input, InputKind};
use crate::language::Text;

pub(in crate::http::console) const ALL: &[&ActionForm] = &[&ADD, &REVOKE];

pub(in crate::http::console) static ADD: ActionForm = ActionForm::new(
    "new-operator",
    Method::POST,
    "operators",
    Text::new("Add an operator", "Incluir operador"),
    "operators",
)
.about(
    "The token is shown once. A name is never given again.",
    "O token é mostrado uma única vez. Um nome nunca é dado de novo.",
)
.with(&[
    Input::new("name", "Name", "Nome"),
    Input::new("role", "Role", "Papel").kind(InputKind::Choice(|| {
        OperatorRole::ALL.iter().map(|it| it.as_str()).collect()
    })),
    Input::new("validUntil", "Valid until", "Válido até")
        .kind(InputKind::Moment)
        .optional(),
])
.reveals("token");

pub(in crate::http::console) static REVOKE: ActionForm = ActionForm::new(
    "operators/{id}/revoke",
    Method::POST,
    "operators/{id}/revoke",
    Text::new("Revoke", "Revogar"),
    "operators",
)
.on("operators/{id}")
.about(
    "Every session of this operator ends at once, and the token is refused within a second.",
    "Toda sessão deste operador termina na hora, e o token é recusado em até um segundo.",
)
.final_step();
