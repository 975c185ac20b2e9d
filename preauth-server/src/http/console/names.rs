//! The words of the API in the reader's language, each with its tone.

use askama::Template;
use askama::filters::HtmlSafe;

use crate::http::pages::words::Words;
use crate::language::Language;

/// A status, with the API's own word for those who hover over it.
#[derive(Clone, Debug, Template)]
#[template(
    source = r#"<span class="badge {{ tone }}" title="{{ code }}">{{ label }}</span>"#,
    ext = "html"
)]
pub(super) struct Badge {
    pub(super) code: String,
    pub(super) label: String,
    tone: &'static str,
}

// Its template escapes what it contains.
impl HtmlSafe for Badge {}

const GOOD: &str = "good";
const WAIT: &str = "wait";
const BAD: &str = "bad";
const PLAIN: &str = "plain";

/// Code, tone, English, Portuguese.
type Name = (&'static str, &'static str, &'static str, &'static str);

/// In Portuguese as of an `operação`, `entrega`, `ordem` or `chave`.
const STATUSES: &[Name] = &[
    // Operations.
    ("IN_PRE_AUTH", WAIT, "Offered", "Ofertada"),
    ("IN_VERIFICATION", WAIT, "In verification", "Em verificação"),
    ("TO_APPROVE", WAIT, "To approve", "A aprovar"),
    ("IN_ANALYSIS", WAIT, "In analysis", "Em análise"),
    ("TO_PAY", WAIT, "To pay", "A pagar"),
    ("TO_BILL", WAIT, "To bill", "A emitir boleto"),
    ("TO_RECEIVE", WAIT, "To receive", "A receber"),
    ("CONCLUDED", GOOD, "Concluded", "Concluída"),
    ("REPROVED", BAD, "Reproved", "Reprovada"),
    // Deliveries and mails.
    ("PENDING", WAIT, "Pending", "Pendente"),
    ("DELIVERED", GOOD, "Delivered", "Entregue"),
    ("FAILED", BAD, "Failed", "Com falha"),
    ("PAUSED", WAIT, "Paused", "Pausada"),
    ("HELD", WAIT, "Held", "Retida"),
    ("SENT", GOOD, "Sent", "Enviada"),
    ("CANCELED", PLAIN, "Canceled", "Cancelada"),
    ("SUPPRESSED", PLAIN, "Suppressed", "Suprimida"),
    // Payment orders.
    ("CREATED", WAIT, "Created", "Gerada"),
    ("UNDER_REVIEW", WAIT, "Under review", "Em revisão"),
    ("SCHEDULED", WAIT, "Scheduled", "Agendada"),
    ("PAID", GOOD, "Paid", "Paga"),
    // Keys, operators, endpoints, extensions.
    ("ACTIVE", GOOD, "Active", "Ativa"),
    ("REVOKED", BAD, "Revoked", "Revogada"),
    ("EXPIRED", WAIT, "Expired", "Vencida"),
    ("OPEN", WAIT, "Open", "Aberta"),
    // The audit log.
    ("DONE", GOOD, "Done", "Feito"),
    ("FORBIDDEN", BAD, "Not permitted", "Não permitido"),
];

/// Code and Portuguese of what agrees with an `e-mail`, `operador` or `endpoint`.
const MASCULINE: &[(&str, &str)] = &[
    ("PAUSED", "Pausado"),
    ("HELD", "Retido"),
    ("SENT", "Enviado"),
    ("CANCELED", "Cancelado"),
    ("SUPPRESSED", "Suprimido"),
    ("ACTIVE", "Ativo"),
    ("REVOKED", "Revogado"),
    ("EXPIRED", "Vencido"),
];

const WORDS: &[Name] = &[
    (
        "PRE_AUTH",
        PLAIN,
        "Offer of the company",
        "Oferta da empresa",
    ),
    ("DIRECT", PLAIN, "Direct advance", "Antecipação direta"),
    ("CONSTRUCTION", PLAIN, "Construction company", "Construtora"),
    ("SUPPLIER", PLAIN, "Supplier", "Fornecedor"),
    ("COMPANY", PLAIN, "Company", "Empresa"),
    ("PLATFORM", PLAIN, "Platform", "Plataforma"),
    ("SYSTEM", PLAIN, "System", "Sistema"),
    ("API_KEY", PLAIN, "ERP", "ERP"),
    ("OFFER", PLAIN, "Offer", "Oferta"),
    ("INVITATION", PLAIN, "Invitation", "Convite"),
    (
        "ENDPOINT_PAUSED",
        PLAIN,
        "Endpoint paused",
        "Endpoint pausado",
    ),
    (
        "ENDPOINT_FAILING",
        PLAIN,
        "Endpoint failing",
        "Endpoint com falha",
    ),
    (
        "ENDPOINT_RECOVERED",
        PLAIN,
        "Endpoint recovered",
        "Endpoint recuperado",
    ),
    (
        "SCHEDULE",
        PLAIN,
        "Automatic attempt",
        "Tentativa automática",
    ),
    ("RESEND", PLAIN, "Sent again", "Reenvio"),
    ("REQUEST", PLAIN, "Request", "Solicitação"),
    ("VIEWER", PLAIN, "Viewer", "Somente leitura"),
    ("OPERATOR", PLAIN, "Operator", "Operador"),
    ("ADMIN", PLAIN, "Administrator", "Administrador"),
    (
        "REQUEST_ADVANCES",
        PLAIN,
        "Request advances",
        "Solicitar antecipações",
    ),
    (
        "PRE_AUTHORIZE_ADVANCES",
        PLAIN,
        "Pre-authorize advances",
        "Pré-autorizar antecipações",
    ),
    (
        "AFTER_FAILURE",
        PLAIN,
        "After a failed attempt",
        "Depois de uma falha",
    ),
    ("OVERDUE", PLAIN, "Overdue", "Atrasada"),
    // Types of events.
    ("pre_authorization.created", PLAIN, "Offered", "Ofertada"),
    (
        "pre_authorization.declined",
        PLAIN,
        "Declined by the supplier",
        "Recusada pelo fornecedor",
    ),
    (
        "pre_authorization.revoked",
        PLAIN,
        "Taken back by the company",
        "Retirada pela empresa",
    ),
    ("pre_authorization.expired", PLAIN, "Expired", "Expirada"),
    (
        "anticipation.created",
        PLAIN,
        "Advance begun by the supplier",
        "Antecipação iniciada pelo fornecedor",
    ),
    ("anticipation.requested", PLAIN, "Requested", "Solicitada"),
    (
        "anticipation.approved",
        PLAIN,
        "Approved by the company",
        "Aprovada pela empresa",
    ),
    (
        "anticipation.analysis_approved",
        PLAIN,
        "Released for payment",
        "Liberada para pagamento",
    ),
    ("anticipation.reproved", PLAIN, "Reproved", "Reprovada"),
    ("anticipation.reopened", PLAIN, "Reopened", "Reaberta"),
    (
        "anticipation.paid",
        PLAIN,
        "Paid to the supplier",
        "Paga ao fornecedor",
    ),
    (
        "anticipation.payout_returned",
        PLAIN,
        "Payment returned by the bank",
        "Pagamento devolvido pelo banco",
    ),
    (
        "anticipation.billed",
        PLAIN,
        "Boleto issued",
        "Boleto emitido",
    ),
    (
        "anticipation.concluded",
        PLAIN,
        "Boleto paid",
        "Boleto pago",
    ),
    (
        "anticipation.extension_created",
        PLAIN,
        "Extension requested",
        "Prorrogação solicitada",
    ),
    (
        "anticipation.extension_concluded",
        PLAIN,
        "Extension concluded",
        "Prorrogação concluída",
    ),
    (
        "anticipation.extension_canceled",
        PLAIN,
        "Extension canceled",
        "Prorrogação cancelada",
    ),
    (
        "invoice.received",
        PLAIN,
        "Invoice received",
        "Nota recebida",
    ),
    (
        "payment_order.created",
        PLAIN,
        "Payment order generated",
        "Ordem de pagamento gerada",
    ),
    (
        "payment_order.under_review",
        PLAIN,
        "Payment order under review",
        "Ordem de pagamento em revisão",
    ),
    (
        "payment_order.scheduled",
        PLAIN,
        "Payment order scheduled",
        "Ordem de pagamento agendada",
    ),
    (
        "payment_order.paid",
        PLAIN,
        "Payment order paid",
        "Ordem de pagamento paga",
    ),
    (
        "payment_order.canceled",
        PLAIN,
        "Payment order canceled",
        "Ordem de pagamento cancelada",
    ),
    (
        "payment_order.reproved",
        PLAIN,
        "Payment order reproved",
        "Ordem de pagamento reprovada",
    ),
    ("webhook.test", PLAIN, "Test", "Teste"),
];

/// A status of the API.
pub(super) fn badge(code: &str, w: Words) -> Badge {
    let (tone, label) = match STATUSES.iter().find(|(each, ..)| *each == code) {
        Some((_, tone, en, pt)) => (*tone, w.t(en, pt)),
        None => (PLAIN, code),
    };
    Badge {
        code: code.to_owned(),
        label: label.to_owned(),
        tone,
    }
}

/// A status of a record whose noun is masculine in Portuguese: a mail, an operator, an endpoint.
pub(super) fn masculine_badge(code: &str, w: Words) -> Badge {
    Badge {
        label: masculine_name(code, w),
        ..badge(code, w)
    }
}

/// The word of such a status.
pub(super) fn masculine_name(code: &str, w: Words) -> String {
    let found = MASCULINE.iter().find(|(each, _)| *each == code);
    match (w.0, found) {
        (Language::Portuguese, Some((_, pt))) => (*pt).to_owned(),
        _ => name(code, w),
    }
}

/// A word of the API; unknown ones stay as they are.
pub(super) fn name(code: &str, w: Words) -> String {
    let mut names = WORDS.iter().chain(STATUSES);
    let found = names.find(|(each, ..)| *each == code);
    found.map_or_else(|| code.to_owned(), |(_, _, en, pt)| w.t(en, pt).to_owned())
}

#[cfg(test)]
mod tests {
    use preauth_core::access::{KeyState, OperatorRole};
    use preauth_core::operation::ActorKind;
    use preauth_core::port::{MailKind, Trigger};
    use preauth_core::value::{
        CompanyKind, EventType, Origin, PaymentOrderStatus, Permission, Stage, Status, TextEnum,
    };

    use super::{Language, MASCULINE, STATUSES, WORDS, Words, masculine_name, name};
    use crate::directory::{AuditOutcome, DeliveryStatus, DeliveryWait, MailStatus};

    #[test]
    fn every_word_of_the_api_has_a_name_and_only_one() {
        let known = |code: &str| {
            let names = STATUSES.iter().chain(WORDS);
            assert_eq!(
                names.filter(|(each, ..)| *each == code).count(),
                1,
                "{code}"
            );
        };
        let words = [
            of::<Status>(),
            of::<Origin>(),
            of::<Stage>(),
            of::<ActorKind>(),
            of::<EventType>(),
            of::<PaymentOrderStatus>(),
            of::<DeliveryStatus>(),
            of::<DeliveryWait>(),
            of::<Trigger>(),
            of::<MailStatus>(),
            of::<MailKind>(),
            of::<CompanyKind>(),
            of::<Permission>(),
            of::<KeyState>(),
            of::<OperatorRole>(),
            of::<AuditOutcome>(),
        ];
        for word in words.into_iter().flatten() {
            known(word);
        }
    }

    #[test]
    fn portuguese_agrees_with_the_noun() {
        let pt = Words(Language::Portuguese);
        for (code, masculine) in MASCULINE {
            assert_eq!(masculine_name(code, pt), *masculine);
            let feminine = name(code, pt);
            assert_eq!(feminine.strip_suffix('a'), masculine.strip_suffix('o'));
            let en = Words(Language::English);
            assert_eq!(masculine_name(code, en), name(code, en));
        }
        for status in MailStatus::ALL {
            let word = masculine_name(status.as_str(), pt);
            assert!(!word.ends_with("da"), "{word}");
        }
    }

    fn of<T: TextEnum>() -> Vec<&'static str> {
        T::ALL.iter().map(|it| it.as_str()).collect()
    }
}
