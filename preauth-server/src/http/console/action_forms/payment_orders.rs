//! Orders to pay suppliers.

use preauth_core::payment_order::OrderAction;
use salvo::http::Method;

use crate::http::console::action_form::{ActionForm, Input, InputKind};
use crate::language::Text;

pub(in crate::http::console) const ALL: &[&ActionForm] = &[
    &ADD,
    &ADD_FOR_OPERATION,
    &REVIEW,
    &SCHEDULE,
    &PAY,
    &CANCEL,
    &REPROVE,
];

/// The form of each step of an order that the transition table permits.
pub(in crate::http::console) const STEPS: &[(OrderAction, &ActionForm)] = &[
    (OrderAction::Review, &REVIEW),
    (OrderAction::Schedule, &SCHEDULE),
    (OrderAction::Pay, &PAY),
    (OrderAction::Cancel, &CANCEL),
    (OrderAction::Reprove, &REPROVE),
];

const RECORD: &str = "payment-orders/{id}";

const REASON: Input = Input::new("reason", "Reason", "Motivo").optional();

const INPUTS: &[Input] = &[
    Input::new("payerCompanyId", "Payer", "Empresa pagadora").kind(InputKind::Company),
    Input::new("supplierCnpj", "Supplier's CNPJ", "CNPJ do fornecedor"),
    Input::new("amount", "Amount", "Valor").kind(InputKind::Money),
    Input::new("scheduledFor", "Day of payment", "Dia do pagamento")
        .kind(InputKind::Day)
        .optional(),
    Input::new("operationId", "Operation", "Operação")
        .kind(InputKind::Whole)
        .optional(),
];

pub(in crate::http::console) static ADD: ActionForm = ActionForm::new(
    "new-payment-order",
    Method::POST,
    "payment-orders",
    Text::new("New payment order", "Nova ordem de pagamento"),
    RECORD,
)
.with(INPUTS);

pub(in crate::http::console) static ADD_FOR_OPERATION: ActionForm = ActionForm::new(
    "operations/{id}/new-payment-order",
    Method::POST,
    "payment-orders",
    Text::new("New payment order", "Nova ordem de pagamento"),
    "payment-orders/{answer.id}",
)
.on("operations/{id}")
.filled(&[
    ("payerCompanyId", "payer.companyId"),
    ("supplierCnpj", "supplier.cnpj"),
    ("amount", "netAmount"),
    ("operationId", "id"),
])
.with(INPUTS);

const fn step(page: &'static str, title: Text) -> ActionForm {
    ActionForm::new(page, Method::POST, page, title, RECORD)
        .on(RECORD)
        .binding_version()
}

pub(in crate::http::console) static REVIEW: ActionForm = step(
    "payment-orders/{id}/review",
    Text::new("Put under review", "Pôr em revisão"),
);

pub(in crate::http::console) static SCHEDULE: ActionForm = step(
    "payment-orders/{id}/schedule",
    Text::new("Schedule", "Agendar"),
)
.edits(RECORD)
.with(&[
    Input::new("scheduledFor", "Day of payment", "Dia do pagamento")
        .kind(InputKind::Day)
        .optional(),
]);

pub(in crate::http::console) static PAY: ActionForm = step(
    "payment-orders/{id}/pay",
    Text::new("Record as paid", "Registrar como paga"),
);

pub(in crate::http::console) static CANCEL: ActionForm = step(
    "payment-orders/{id}/cancel",
    Text::new("Cancel the order", "Cancelar a ordem"),
)
.with(&[REASON])
.final_step();

pub(in crate::http::console) static REPROVE: ActionForm = step(
    "payment-orders/{id}/reprove",
    Text::new("Reprove the order", "Reprovar a ordem"),
)
.with(&[REASON])
.final_step();
