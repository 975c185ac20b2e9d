//! What the audit log names by codes, in words: actions, settings and their values.

use preauth_core::value::{Money, Timestamp};

use crate::http::pages::words::Words;
use crate::http::platform::audit_log::ChangeShape;

use super::names;

/// Code, English, Portuguese.
type Word = (&'static str, &'static str, &'static str);

/// The `operationId` of each request that leaves a row.
const ACTIONS: &[Word] = &[
    ("addOperator", "Add an operator", "Incluir operador"),
    ("revokeOperator", "Revoke an operator", "Revogar operador"),
    ("addCompany", "Register a company", "Cadastrar empresa"),
    ("updateCompany", "Rename a company", "Renomear empresa"),
    ("suspendCompany", "Suspend a company", "Suspender empresa"),
    ("resumeCompany", "Resume a company", "Retomar empresa"),
    ("setCreditAnalysis", "Set limits", "Definir limites"),
    ("blockSupplier", "Block a supplier", "Bloquear fornecedor"),
    (
        "unblockSupplier",
        "Unblock a supplier",
        "Desbloquear fornecedor",
    ),
    ("addUser", "Add a user", "Incluir usuário"),
    ("updateUser", "Change a user", "Alterar usuário"),
    ("addApiKey", "Create an API key", "Criar chave de API"),
    (
        "searchApiKeys",
        "Find a leaked key",
        "Procurar chave vazada",
    ),
    ("revokeApiKey", "Revoke an API key", "Revogar chave de API"),
    (
        "setWebhookEndpoint",
        "Set the webhook endpoint",
        "Definir endpoint de webhook",
    ),
    (
        "deleteWebhookEndpoint",
        "Remove the webhook endpoint",
        "Remover endpoint de webhook",
    ),
    (
        "pauseWebhookEndpoint",
        "Pause the webhook endpoint",
        "Pausar endpoint de webhook",
    ),
    (
        "resumeWebhookEndpoint",
        "Resume the webhook endpoint",
        "Retomar endpoint de webhook",
    ),
    (
        "rotateWebhookSecret",
        "Make a new signing secret",
        "Criar novo segredo de assinatura",
    ),
    (
        "testWebhookEndpoint",
        "Send a test event",
        "Enviar evento de teste",
    ),
    (
        "resendFailedDeliveries",
        "Send failed deliveries again",
        "Reenviar entregas que falharam",
    ),
    (
        "resendDeliveries",
        "Send a range of deliveries again",
        "Reenviar intervalo de entregas",
    ),
    (
        "countResendableDeliveries",
        "Count a range of deliveries",
        "Contar intervalo de entregas",
    ),
    (
        "resendDelivery",
        "Send a delivery again",
        "Reenviar entrega",
    ),
    ("resendNotice", "Send a mail again", "Reenviar e-mail"),
    (
        "exportPersonalData",
        "Export personal data",
        "Exportar dados pessoais",
    ),
    (
        "erasePersonalData",
        "Erase personal data",
        "Apagar dados pessoais",
    ),
    (
        "removeSuppressedAddress",
        "Send mails to an address again",
        "Voltar a enviar e-mails a um endereço",
    ),
    (
        "reencryptSecrets",
        "Encrypt all secrets anew",
        "Criptografar todos os segredos de novo",
    ),
    (
        "addOperation",
        "New direct advance",
        "Nova antecipação direta",
    ),
    (
        "requestOperation",
        "Request an advance",
        "Solicitar antecipação",
    ),
    ("declineOperation", "Decline an offer", "Recusar oferta"),
    ("withdrawOperation", "Withdraw an offer", "Retirar oferta"),
    (
        "verifyOperation",
        "Verify a direct advance",
        "Verificar antecipação direta",
    ),
    (
        "approveOperation",
        "Approve an advance",
        "Aprovar antecipação",
    ),
    (
        "releaseOperation",
        "Release an advance",
        "Liberar antecipação",
    ),
    (
        "payOperation",
        "Record a payment to a supplier",
        "Registrar pagamento ao fornecedor",
    ),
    (
        "returnPayout",
        "Record a returned payment",
        "Registrar pagamento devolvido",
    ),
    (
        "billOperation",
        "Record the boleto",
        "Registrar boleto emitido",
    ),
    (
        "concludeOperation",
        "Record the payment of a boleto",
        "Registrar boleto pago",
    ),
    (
        "reproveOperation",
        "Reprove an advance",
        "Reprovar antecipação",
    ),
    (
        "reopenOperation",
        "Reopen an advance",
        "Reabrir antecipação",
    ),
    ("addExtension", "Extend a boleto", "Prorrogar boleto"),
    (
        "concludeExtension",
        "Conclude an extension",
        "Concluir prorrogação",
    ),
    (
        "cancelExtension",
        "Cancel an extension",
        "Cancelar prorrogação",
    ),
    ("addInvoice", "Record an invoice", "Registrar nota"),
    (
        "addPaymentOrder",
        "New payment order",
        "Nova ordem de pagamento",
    ),
    (
        "reviewPaymentOrder",
        "Review a payment order",
        "Pôr ordem de pagamento em revisão",
    ),
    (
        "schedulePaymentOrder",
        "Schedule a payment order",
        "Agendar ordem de pagamento",
    ),
    (
        "payPaymentOrder",
        "Record a paid payment order",
        "Registrar ordem de pagamento paga",
    ),
    (
        "cancelPaymentOrder",
        "Cancel a payment order",
        "Cancelar ordem de pagamento",
    ),
    (
        "reprovePaymentOrder",
        "Reprove a payment order",
        "Reprovar ordem de pagamento",
    ),
    ("advanceClock", "Let time pass", "Avançar o tempo"),
];

const SETTINGS: &[Word] = &[
    ("name", "name", "nome"),
    ("kind", "kind", "tipo"),
    ("suspendedAt", "suspended", "suspensa em"),
    ("maxTermDays", "longest term, days", "prazo máximo, dias"),
    (
        "maxInvoiceAmount",
        "greatest invoice",
        "valor máximo da nota",
    ),
    ("webhookOrigin", "webhook origin", "origem do webhook"),
    ("webhookEvents", "webhook events", "eventos do webhook"),
    ("webhookPausedAt", "webhook paused", "webhook pausado em"),
    ("permissions", "permissions", "permissões"),
    ("active", "active", "ativo"),
    ("scopes", "scopes", "escopos"),
    ("expiresAt", "expires", "expira em"),
    ("revokedAt", "revoked", "revogação"),
    ("role", "role", "papel"),
    ("validUntil", "valid until", "válido até"),
];

/// The codes of all actions, for a choice.
pub(super) fn actions() -> Vec<&'static str> {
    ACTIONS.iter().map(|(code, ..)| *code).collect()
}

/// An action; one of another version stays as it is.
pub(super) fn action(code: &str, w: Words) -> String {
    word(ACTIONS, code, w)
}

/// A setting with its values before and after.
pub(super) fn change(it: &ChangeShape, w: Words) -> String {
    let name = word(SETTINGS, &it.setting, w);
    let value = |text: &Option<String>| {
        let text = text.as_deref().filter(|text| !text.is_empty());
        text.map_or_else(|| "–".to_owned(), |text| value(&it.setting, text, w))
    };
    format!("{name}: {} → {}", value(&it.before), value(&it.after))
}

/// The same with the codes of the API, for files.
pub(super) fn coded(it: &ChangeShape) -> String {
    let value = |text: &Option<String>| text.clone().unwrap_or_default();
    let (before, after) = (value(&it.before), value(&it.after));
    format!("{}: {before} → {after}", it.setting)
}

fn word(words: &[Word], code: &str, w: Words) -> String {
    let found = words.iter().find(|(each, ..)| *each == code);
    found.map_or_else(|| code.to_owned(), |(_, en, pt)| w.t(en, pt).to_owned())
}

/// A value as people read it; names that people gave stay as they are.
fn value(setting: &str, text: &str, w: Words) -> String {
    match setting {
        "name" | "webhookOrigin" | "scopes" => text.to_owned(),
        "maxInvoiceAmount" => {
            Money::parse(text).map_or_else(|_| text.to_owned(), |amount| w.money(amount))
        }
        "active" => match text {
            "true" => w.t("yes", "sim").to_owned(),
            "false" => w.t("no", "não").to_owned(),
            other => other.to_owned(),
        },
        setting if setting.ends_with("At") || setting == "validUntil" => {
            Timestamp::parse(text).map_or_else(|_| text.to_owned(), |at| w.time(&at).local)
        }
        _ => {
            let is_of_code = |letter: char| letter.is_ascii_alphanumeric() || "_.".contains(letter);
            let codes = text.split(|letter: char| !is_of_code(letter));
            let codes = codes.filter(|code| !code.is_empty());
            let named: Vec<_> = codes.map(|code| names::name(code, w)).collect();
            named.join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{ACTIONS, ChangeShape, Words, change, coded};
    use crate::http::openapi;
    use crate::language::Language;

    const PT: Words = Words(Language::Portuguese);

    fn of(setting: &str, before: Option<&str>, after: &str) -> ChangeShape {
        ChangeShape {
            setting: setting.to_owned(),
            before: before.map(ToOwned::to_owned),
            after: Some(after.to_owned()),
        }
    }

    #[test]
    fn values_are_written_as_people_read_them() {
        for (changed, says) in [
            (
                of("permissions", Some("REQUEST_ADVANCES"), ""),
                "permissões: Solicitar antecipações → –",
            ),
            (of("role", None, "ADMIN"), "papel: – → Administrador"),
            (of("active", Some("true"), "false"), "ativo: sim → não"),
            (
                of("maxInvoiceAmount", None, "1000.00"),
                "valor máximo da nota: – → R$\u{a0}1.000,00",
            ),
            (
                of("suspendedAt", None, "2026-11-21T03:00:00.000Z"),
                "suspensa em: – → 21/11/2026 00:00:00",
            ),
            (of("name", Some("ADMIN"), "PAID"), "nome: ADMIN → PAID"),
        ] {
            assert_eq!(change(&changed, PT), says);
        }
        let changed = of("role", None, "ADMIN");
        assert_eq!(coded(&changed), "role:  → ADMIN");
    }

    #[test]
    fn every_request_that_may_leave_a_row_has_words() {
        let description: Value = serde_json::from_str(&openapi::platform()).unwrap();
        let paths = description["paths"].as_object().unwrap().values();
        let operations = paths.flat_map(|path| path.as_object().unwrap());
        let writes: Vec<_> = operations
            .filter(|(method, _)| ["post", "put", "patch", "delete"].contains(&method.as_str()))
            .map(|(_, operation)| operation["operationId"].as_str().unwrap())
            .collect();
        assert!(writes.len() > 30, "{writes:?}");
        let is_known = |id: &&str| ACTIONS.iter().any(|(code, ..)| code == id);
        let unknown: Vec<_> = writes.into_iter().filter(|id| !is_known(id)).collect();
        assert!(unknown.is_empty(), "no words for {unknown:?}");
    }
}
