//! What operators do with an operation, on behalf of whoever may do it.

use salvo::http::Method;

use crate::http::console::action_form::{ActionForm, Input, InputKind};
use crate::language::Text;

pub(in crate::http::console) const ALL: &[&ActionForm] = &[
    &ADVANCE,
    &REQUEST,
    &DECLINE,
    &WITHDRAW,
    &VERIFY,
    &APPROVE,
    &RELEASE,
    &PAY,
    &RETURN_PAYOUT,
    &BILL,
    &CONCLUDE,
    &REPROVE_BY_COMPANY,
    &REPROVE_BY_PLATFORM,
    &REOPEN,
];

const RECORD: &str = "operations/{id}";

const REASON: Input = Input::new("reason", "Reason", "Motivo").optional();

/// A step of an operation.
const fn step(page: &'static str, api: &'static str, title: Text) -> ActionForm {
    ActionForm::new(page, Method::POST, api, title, RECORD)
        .on(RECORD)
        .binding_version()
}

pub(in crate::http::console) static ADVANCE: ActionForm = ActionForm::new(
    "new-operation",
    Method::POST,
    "operations",
    Text::new("New direct advance", "Nova antecipação direta"),
    "operations/{id}",
)
.about(
    "A registered supplier advances an invoice directly, without an offer. It begins in verification.",
    "Um fornecedor cadastrado antecipa uma nota diretamente, sem oferta. Começa em verificação.",
)
.with(&[
    Input::new("payerCompanyId", "Payer", "Empresa pagadora").kind(InputKind::Company),
    Input::new("supplierCnpj", "Supplier's CNPJ", "CNPJ do fornecedor"),
    Input::new("invoice.amount", "Gross amount", "Valor bruto").kind(InputKind::Money),
    Input::new("invoice.dueDate", "Due date", "Vencimento").kind(InputKind::Day),
    Input::new("invoice.number", "Invoice number", "Número da nota").optional(),
    Input::new("invoice.withheldTaxAmount", "Withheld tax", "Retenções")
        .kind(InputKind::Money)
        .optional(),
    Input::new("externalReference", "External reference", "Referência externa").optional(),
]);

pub(in crate::http::console) static REQUEST: ActionForm = step(
    "operations/{id}/request",
    "operations/{id}/request",
    Text::new("Request", "Solicitar"),
)
.about(
    "On behalf of the supplier: asks for the advance that was offered.",
    "Em nome do fornecedor: solicita a antecipação ofertada.",
);

pub(in crate::http::console) static DECLINE: ActionForm = step(
    "operations/{id}/decline",
    "operations/{id}/decline",
    Text::new("Decline", "Recusar"),
)
.about(
    "On behalf of the supplier: declines the offer, which closes it.",
    "Em nome do fornecedor: recusa a oferta, que é encerrada.",
)
.with(&[REASON])
.final_step();

pub(in crate::http::console) static WITHDRAW: ActionForm = step(
    "operations/{id}/withdraw",
    "operations/{id}/withdraw",
    Text::new("Withdraw", "Retirar"),
)
.about(
    "On behalf of the company: takes the offer back, which closes it.",
    "Em nome da empresa: retira a oferta, que é encerrada.",
)
.with(&[REASON])
.final_step();

pub(in crate::http::console) static VERIFY: ActionForm = step(
    "operations/{id}/verify",
    "operations/{id}/verify",
    Text::new("Verify", "Verificar"),
)
.about(
    "The platform verified the invoice of this direct advance.",
    "A plataforma verificou a nota desta antecipação direta.",
);

pub(in crate::http::console) static APPROVE: ActionForm = step(
    "operations/{id}/approve",
    "operations/{id}/approve",
    Text::new("Approve", "Aprovar"),
)
.about(
    "On behalf of the company: approves the advance.",
    "Em nome da empresa: aprova a antecipação.",
);

pub(in crate::http::console) static RELEASE: ActionForm = step(
    "operations/{id}/release",
    "operations/{id}/release",
    Text::new("Release", "Liberar"),
)
.about(
    "Releases the advance for payment.",
    "Libera a antecipação para pagamento.",
)
.with(&[Input::new(
    "netAmount",
    "Net amount that the supplier gets",
    "Valor líquido que o fornecedor recebe",
)
.kind(InputKind::Money)]);

pub(in crate::http::console) static PAY: ActionForm = step(
    "operations/{id}/pay",
    "operations/{id}/pay",
    Text::new("Pay", "Pagar"),
)
.about(
    "Records that the supplier was paid.",
    "Registra que o fornecedor foi pago.",
);

pub(in crate::http::console) static RETURN_PAYOUT: ActionForm = step(
    "operations/{id}/return-payout",
    "operations/{id}/return-payout",
    Text::new("Payment returned", "Pagamento devolvido"),
)
.about(
    "The bank returned the payment to the supplier: the operation is to be paid again.",
    "O banco devolveu o pagamento ao fornecedor: a operação volta a ter de ser paga.",
);

pub(in crate::http::console) static BILL: ActionForm = step(
    "operations/{id}/bill",
    "operations/{id}/bill",
    Text::new("Boleto issued", "Boleto emitido"),
)
.about(
    "Records that the boleto was issued.",
    "Registra que o boleto foi emitido.",
);

pub(in crate::http::console) static CONCLUDE: ActionForm = step(
    "operations/{id}/conclude",
    "operations/{id}/conclude",
    Text::new("Boleto paid", "Boleto pago"),
)
.about(
    "The company paid the boleto, which concludes the operation.",
    "A empresa pagou o boleto, o que conclui a operação.",
);

pub(in crate::http::console) static REPROVE_BY_COMPANY: ActionForm = step(
    "operations/{id}/reprove-by-company",
    "operations/{id}/reprove",
    Text::new("Reprove for the company", "Reprovar pela empresa"),
)
.about(
    "On behalf of the company: refuses the advance.",
    "Em nome da empresa: reprova a antecipação.",
)
.fixed(&[("by", "COMPANY")])
.with(&[REASON])
.final_step();

pub(in crate::http::console) static REPROVE_BY_PLATFORM: ActionForm = step(
    "operations/{id}/reprove",
    "operations/{id}/reprove",
    Text::new("Reprove", "Reprovar"),
)
.about(
    "The platform refuses the advance.",
    "A plataforma reprova a antecipação.",
)
.fixed(&[("by", "PLATFORM")])
.with(&[REASON])
.final_step();

pub(in crate::http::console) static REOPEN: ActionForm = step(
    "operations/{id}/reopen",
    "operations/{id}/reopen",
    Text::new("Reopen", "Reabrir"),
)
.about(
    "Takes up again what was reproved, where it was refused.",
    "Retoma o que foi reprovado, na etapa em que foi recusado.",
);
