//! Later due dates of a boleto.

use salvo::http::Method;

use crate::http::console::action_form::{ActionForm, Input, InputKind};
use crate::language::Text;

pub(in crate::http::console) const ALL: &[&ActionForm] = &[&ADD, &CONCLUDE, &CANCEL];

pub(in crate::http::console) static ADD: ActionForm = ActionForm::new(
    "operations/{id}/extend",
    Method::POST,
    "operations/{id}/extensions",
    Text::new("Extend boleto", "Prorrogar boleto"),
    "operations/{id}",
)
.on("operations/{id}")
.with(&[
    Input::new("newDueDate", "New due date", "Novo vencimento").kind(InputKind::Day),
    Input::new(
        "totalAmount",
        "Total of the extended boleto",
        "Valor total do boleto prorrogado",
    )
    .kind(InputKind::Money),
]);

pub(in crate::http::console) static CONCLUDE: ActionForm = ActionForm::new(
    "extensions/{id}/conclude",
    Method::POST,
    "extensions/{id}/conclude",
    Text::new("Conclude extension", "Concluir prorrogação"),
    "operations/{operationId}",
)
.on("extensions/{id}")
.about(
    "The extension was paid and the boleto replaced.",
    "A prorrogação foi paga e o boleto foi substituído.",
);

pub(in crate::http::console) static CANCEL: ActionForm = ActionForm::new(
    "extensions/{id}/cancel",
    Method::POST,
    "extensions/{id}/cancel",
    Text::new("Cancel extension", "Cancelar prorrogação"),
    "operations/{operationId}",
)
.on("extensions/{id}")
.final_step();
