//! The words of the sandbox's story, in every language.

use crate::language::{Language, Text, texts};

pub(super) const REQUEST: Text = Text::new("request", "chamada");
pub(super) const STATUS: Text = Text::new("status", "situação");
pub(super) const DELIVERY: Text = Text::new("delivery", "entrega");
pub(super) const MAIL: Text = Text::new("mail", "e-mail");
pub(super) const PAGE: Text = Text::new("page", "página");
pub(super) const CLOCK: Text = Text::new("clock", "relógio");
pub(super) const RECEIVER: Text = Text::new("receiver", "receptor");

texts! {
    operation(operation: &str, status: &str, event: &str) {
        en: "operation {operation} is {status} ({event})",
        pt: "operação {operation} em {status} ({event})",
    }
    payment_order(order: &str, status: &str) {
        en: "payment order {order} is {status}",
        pt: "ordem de pagamento {order} em {status}",
    }
    delivery(event: &str, attempt: &str, outcome: &str, verdict: &str, duration_ms: &str) {
        en: "{event} attempt {attempt}: {outcome}, {verdict} ({duration_ms} ms)",
        pt: "{event} tentativa {attempt}: {outcome}, {verdict} ({duration_ms} ms)",
    }
    clock(now: &str, span: &str) {
        en: "it is {now}: {span} passed at once",
        pt: "passaram {span} de uma vez: agora é {now}",
    }
}

/// Before the time of the next attempt.
const RETRY_AT: Text = Text::new("retry at ", "nova tentativa em ");
/// The phrases of the log about deliveries and mails; a log line has several, separated by commas.
const LOGGED: [Text; 11] = [
    Text::new("delivered", "entregue"),
    Text::new("failed", "falhou"),
    Text::new("endpoint paused", "endpoint pausado"),
    Text::new(
        "not recorded: lease lost",
        "não registrado: outra instância assumiu",
    ),
    Text::new(
        "not recorded: database lost",
        "não registrado: banco de dados inacessível",
    ),
    Text::new("sent", "enviado"),
    Text::new("retried", "será repetido"),
    Text::new("given up", "abandonado"),
    Text::new("canceled", "cancelado"),
    Text::new("its offer no longer stands", "a oferta foi encerrada"),
    Text::new(
        "its reader wants no mails",
        "o destinatário não quer e-mails",
    ),
];

/// Why an attempt failed, as the log has it.
const ATTEMPT_ERRORS: [Text; 21] = [
    Text::new("answered with a status outside 2xx", "resposta de erro"),
    Text::new("url is not allowed", "URL não permitida"),
    Text::new("name has no address", "nome sem endereço"),
    Text::new(
        "name could not be looked up",
        "não foi possível resolver o nome",
    ),
    Text::new(
        "name was not looked up in time",
        "nome não resolvido a tempo",
    ),
    Text::new("address is not allowed", "endereço IP não permitido"),
    Text::new("connection was refused", "conexão recusada"),
    Text::new("receiver cannot be reached", "receptor inacessível"),
    Text::new("no connection in time", "sem conexão a tempo"),
    Text::new("receiver does not speak tls", "o receptor não usa TLS"),
    Text::new(
        "receiver speaks neither tls 1.2 nor tls 1.3",
        "o receptor não usa TLS 1.2 nem TLS 1.3",
    ),
    Text::new(
        "certificate is for another name",
        "certificado de outro nome",
    ),
    Text::new(
        "certificate does not lead to a trusted root",
        "certificado sem autoridade confiável",
    ),
    Text::new(
        "certificate has expired or is not valid yet",
        "certificado fora da validade",
    ),
    Text::new("tls handshake failed", "falha na negociação TLS"),
    Text::new(
        "tls handshake did not end in time",
        "negociação TLS não terminou a tempo",
    ),
    Text::new(
        "connection broke before the answer",
        "conexão caiu antes da resposta",
    ),
    Text::new(
        "answer's head is too large",
        "cabeçalho da resposta grande demais",
    ),
    Text::new("answer is not http", "a resposta não é HTTP"),
    Text::new("no answer within 10 seconds", "sem resposta em 10 segundos"),
    Text::new(
        "signing secret could not be opened",
        "não foi possível abrir o segredo de assinatura",
    ),
];

/// Phrases of the log in this language; a phrase that is not in the table stays as it is.
pub(super) fn logged(language: Language, text: &str) -> String {
    let phrases = text.split(", ").map(|phrase| {
        if let Some(time) = phrase.strip_prefix(RETRY_AT.of(Language::English)) {
            return format!("{}{time}", RETRY_AT.of(language));
        }
        let mut rows = LOGGED.iter().chain(&ATTEMPT_ERRORS);
        let row = rows.find(|row| row.of(Language::English) == phrase);
        row.map_or(phrase, |row| row.of(language)).to_owned()
    });
    phrases.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use preauth_core::port::AttemptError;

    use super::logged;
    use crate::language::Language::{English, Portuguese};

    #[test]
    fn phrases_of_the_log_are_translated_one_by_one() {
        let verdict = "retry at 2026-11-21T12:00:00.000Z, endpoint paused";
        assert_eq!(logged(English, verdict), verdict);
        assert_eq!(
            logged(Portuguese, verdict),
            "nova tentativa em 2026-11-21T12:00:00.000Z, endpoint pausado"
        );
        let error = "failed to connect";
        assert_eq!(logged(Portuguese, error), error);
        for error in AttemptError::ALL {
            let text = error.to_string();
            assert_eq!(logged(English, &text), text);
            assert_ne!(logged(Portuguese, &text), text);
        }
    }
}
