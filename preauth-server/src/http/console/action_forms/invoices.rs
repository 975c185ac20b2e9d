//! Invoices that suppliers issued and the platform received.

use salvo::http::Method;

use crate::http::console::action_form::{ActionForm, Input, InputKind};
use crate::language::Text;

pub(in crate::http::console) const ALL: &[&ActionForm] = &[&RECEIVE];

pub(in crate::http::console) static RECEIVE: ActionForm = ActionForm::new(
    "new-invoice",
    Method::POST,
    "invoices",
    Text::new("Record an invoice", "Registrar nota"),
    "invoices/{id}",
)
.about(
    "An invoice was received. Its payer is sent an event.",
    "Uma nota foi recebida. A empresa pagadora recebe um evento.",
)
.with(&[
    Input::new("payerCompanyId", "Payer", "Empresa pagadora").kind(InputKind::Company),
    Input::new("supplierCnpj", "Supplier's CNPJ", "CNPJ do fornecedor"),
    Input::new("invoice.amount", "Gross amount", "Valor bruto").kind(InputKind::Money),
    Input::new("invoice.dueDate", "Due date", "Vencimento").kind(InputKind::Day),
    Input::new("invoice.number", "Invoice number", "Número da nota"),
]);
